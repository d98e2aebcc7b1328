#include "bench/search/catalogue.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "oracles/models/model_rows.h"
#include "plan/default_fields.h"

namespace mmafuzz {
namespace {

/// Sets original and op of a plugin: the model that it claims to equal, and the first op of a model that it takes.
void claimed_by_plugin(Mutant& mutant) {
  for (const Op& op : ops_of_models()) {
    const Result<std::unique_ptr<Unit>> unit = registry().bind(mutant.name, op);
    if (!unit) continue;
    for (const Claim& claim : (*unit)->claims())
      if (claim.property == "equals_model") mutant.original = claim.detail;
    mutant.op = op;
    if (mutant.original.empty()) throw BadInput("'" + mutant.name + "' claims to equal no model");
    return;
  }
  throw BadInput("'" + mutant.name + "' takes the op of no model");
}

Mutant parse_mutant(const std::string& line) {
  std::istringstream words(line);
  Mutant mutant;
  std::string mark, more;
  words >> mutant.name >> mark;
  if ((!mark.empty() && mark != "hard") || words >> more)
    throw BadInput("after a mutant's name may stand 'hard', nothing else");
  mutant.is_hard = mark == "hard";
  const UnitName name(mutant.name);
  if (name.backend == "plugin") {
    claimed_by_plugin(mutant);
    return mutant;
  }
  if (name.backend != "model" || name.settings.empty())
    throw BadInput("'" + mutant.name + "' has no flaw: expected model:ROW?parameter=value or plugin:FILE");
  mutant.original = name.plain();
  const ModelRow* row = find_model_row(name.path);
  if (!row) throw BadInput("no model row '" + mutant.original + "'");
  mutant.op = row->op;
  bind_or_fail(mutant.name, mutant.op);
  return mutant;
}

}  // namespace

std::vector<Mutant> read_mutants(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw BadInput(file + ": " + std::strerror(errno) + "; name the list of flaws with --flaws");
  std::vector<Mutant> mutants;
  std::set<std::string> names;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    try {
      Mutant mutant = parse_mutant(line);
      if (!names.insert(mutant.name).second) throw BadInput("'" + mutant.name + "' stands twice");
      mutants.push_back(std::move(mutant));
    } catch (const BadInput& e) {
      throw BadInput(file + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  if (mutants.empty()) throw BadInput(file + ": no flaws");
  return mutants;
}

}  // namespace mmafuzz
