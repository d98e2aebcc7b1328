#include "bench/mutants/catalogue.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

Mutant parse_mutant(const std::string& line) {
  std::istringstream words(line);
  Mutant mutant;
  std::string mark, more;
  words >> mutant.name >> mark;
  if ((!mark.empty() && mark != "hard") || words >> more)
    throw BadInput("after a mutant's name may stand 'hard', nothing else");
  mutant.hard = mark == "hard";
  const UnitName name(mutant.name);
  if (name.backend != "model" || name.settings.empty())
    throw BadInput("'" + mutant.name + "' is no mutant: expected model:ROW?parameter=value");
  mutant.original = name.plain();
  const ModelRow* row = find_model_row(name.path);
  if (!row) throw BadInput("no model row '" + mutant.original + "'");
  mutant.op = row->op;
  bind_or_fail(mutant.name, mutant.op);
  return mutant;
}

}  // namespace

std::vector<Mutant> read_mutants(const std::string& file, const std::string& only) {
  std::ifstream in(file);
  if (!in) throw BadInput(file + ": " + std::strerror(errno) + "; name the list of mutants with --mutants");
  std::vector<Mutant> mutants;
  std::set<std::string> names;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    try {
      Mutant mutant = parse_mutant(line);
      if (!names.insert(mutant.name).second) throw BadInput("'" + mutant.name + "' stands twice");
      if (matches_glob(only, mutant.name)) mutants.push_back(std::move(mutant));
    } catch (const BadInput& e) {
      throw BadInput(file + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  if (mutants.empty())
    throw BadInput(names.empty() ? file + ": no mutants" : "no mutant of " + file + " matches '" + only + "'");
  return mutants;
}

}  // namespace mmafuzz
