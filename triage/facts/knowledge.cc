#include "triage/facts/knowledge.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "core/op.h"
#include "core/property.h"
#include "core/replace_file.h"
#include "triage/facts/fact_name.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

constexpr char first_line[] = "mmafuzz-facts 1";

struct KnowledgeFile {
  FactParts::Kind kind;
  const char *name, *about;
};
constexpr KnowledgeFile files[] = {
    {FactParts::Kind::difference, "differences.facts", "Why units differ: parameters of rows with their values."},
    {FactParts::Kind::property, "properties.facts", "Properties that a kind of arithmetic does not have."},
    {FactParts::Kind::claim, "claims.facts", "Claims that are known to be broken."}};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

KnownFact parse(const std::string& line, const std::string& where) {
  const std::vector<std::string> fields = fields_of(line);
  const std::string state = fields.size() > 1 ? fields[1] : "";
  const bool is_seen = state == "seen";
  if (!(is_seen && fields.size() == 6) && !(state == "unseen" && fields.size() == 3))
    throw std::runtime_error(where +
                             ": expected NAME, seen, REASON, PROPERTY AND UNITS, OP, CASE or NAME, unseen, "
                             "REASON, separated by tabs");
  for (const std::string& field : fields)
    if (field.empty()) throw std::runtime_error(where + ": an empty field");
  KnownFact fact{fields[0], is_seen, fields[2], "", "", ""};
  if (is_seen) {
    fact.statement = fields[3];
    fact.op = fields[4];
    fact.one_case = fields[5];
  }
  return fact;
}

std::string line_of(const KnownFact& fact) {
  std::string line = fact.name + "\t" + (fact.is_seen ? "seen" : "unseen") + "\t" + fact.reason;
  if (fact.is_seen) line += "\t" + fact.statement + "\t" + fact.op + "\t" + fact.one_case;
  return line + "\n";
}

/// A fact with its best witness; members stay empty where the witness has no such line.
KnownFact known_fact(const Fact& fact, const std::string& reason) {
  KnownFact known{fact.name, true, reason, "", "", ""};
  std::istringstream in(fact.best.witness);
  for (std::string line; std::getline(in, line) && known.one_case.empty();) {
    if (line.empty() || line[0] == '#' || line.starts_with("mmafuzz-cases")) continue;
    if (line.starts_with("property ")) known.statement = line.substr(9);
    else if (line.starts_with("op ")) known.op = line;
    else known.one_case = line;
  }
  return known;
}

}  // namespace

Knowledge::Knowledge(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".facts") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream in(path);
    std::string line;
    if (!std::getline(in, line) || line != first_line)
      throw std::runtime_error(path + ": the first line must be '" + first_line + "'");
    for (size_t number = 2; std::getline(in, line); ++number) {
      if (line.empty() || line[0] == '#') continue;
      const std::string where = path + ":" + std::to_string(number);
      const KnownFact fact = parse(line, where);
      if (!facts_.emplace(fact.name, fact).second) throw std::runtime_error(where + ": " + fact.name + " stands twice");
    }
  }
}

const KnownFact* Knowledge::find(const std::string& name) const {
  const auto at = facts_.find(name);
  return at == facts_.end() ? nullptr : &at->second;
}

bool Knowledge::knows(const Fact& fact) const {
  const KnownFact* known = find(fact.name);
  if (!known || !known->is_seen) return false;
  if (fact.severity != Severity::accuracy) return true;
  const Result<Op> op = parse_op(std::string_view(known->op).substr(std::string_view("op ").size()));
  return op && fact.ops == std::set{op_label(*op)};
}

std::set<std::string> Knowledge::names() const {
  std::set<std::string> all;
  for (const auto& [name, fact] : facts_) all.insert(name);
  return all;
}

void Knowledge::accept(const Fact& fact, const std::string& reason) {
  if (reason.empty() || reason.find_first_of("\t\n") != std::string::npos)
    throw std::runtime_error(fact.name + ": say on one line why this is known");
  const KnownFact known = known_fact(fact, reason);
  if (known.statement.empty() || known.op.empty() || known.one_case.empty())
    throw std::runtime_error(fact.name + ": the store has no witness of it");
  facts_[fact.name] = known;
}

void Knowledge::save(const std::string& folder) const {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw std::runtime_error(folder + ": cannot be created: " + error.message());
  for (const KnowledgeFile& file : files) {
    std::string text = std::string(first_line) + "\n# " + file.about + "\n";
    for (const auto& [name, fact] : facts_)
      if (parts_of_fact(name).kind == file.kind) text += line_of(fact);
    replace_file_if_other(folder + "/" + file.name, text);
  }
}

}  // namespace mmafuzz
