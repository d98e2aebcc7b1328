#include "plan/evidence.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/case_text.h"
#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/models/parameters.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

/// The row of a unit line in case text; nullptr where the line names an override, or a unit that is no model.
const ModelRow* row_of_line(const std::string& unit) {
  const Result<std::string> model = is_provenance(unit) ? model_of_provenance(unit) : unit;
  const UnitName name(model ? *model : "");
  return name.backend == "model" && name.settings.empty() ? find_model_row(name.path) : nullptr;
}

}  // namespace

EvidenceTables::EvidenceTables(std::string corpus)
    : corpus_(std::move(corpus)),
      files_(read("files", 5)),
      sources_(read("sources", 4)),
      live_(read("live", 5)),
      open_points_(read("open_points", 5)),
      proofs_(read("proofs", 9)),
      rates_(read("rates", 2)) {
  count_cases();
  read_exhaustive();
}

EvidenceTables::Table EvidenceTables::read(const std::string& name, size_t columns) const {
  const std::string path = corpus_ + "/evidence/" + name + ".tsv";
  std::ifstream in(path);
  Table table;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields;
    std::istringstream of_line(line);
    for (std::string field; std::getline(of_line, field, '\t');) fields.push_back(field);
    fields.resize(std::max(fields.size(), columns));
    if (fields.size() != columns)
      throw std::runtime_error(path + ":" + std::to_string(table.size() + 1) + ": expected " + std::to_string(columns) +
                               " fields, separated by tabs");
    table.push_back(fields);
  }
  if (table.empty()) throw std::runtime_error("cannot read " + path);
  return table;
}

void EvidenceTables::count_cases() {
  std::vector<std::string> paths;
  for (const char* folder : {"recorded", "published", "peers"})
    for (const fs::directory_entry& entry : fs::directory_iterator(corpus_ + "/" + folder))
      paths.push_back(fs::relative(entry.path(), corpus_).string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const auto about = std::find_if(files_.begin() + 1, files_.end(),
                                    [&](const std::vector<std::string>& f) { return matches_glob(f[0], path); });
    if (about == files_.end()) continue;
    const std::vector<std::string>& file = *about;  // file, kind, date, what, source
    std::map<std::string, uint64_t> cases;
    visit_cases(corpus_ + "/" + path, 4096, [&](const CaseBlock& block) {
      if (const ModelRow* row = row_of_line(block.unit)) cases[row->name()] += block.batch.size();
    });
    for (const auto& [row, count] : cases) in_files_[row].push_back({file[1], file[4], file[2], path, count});
  }
}

void EvidenceTables::read_exhaustive() {
  const Table table = read("exhaustive", 6);  // unit, properties, ops, inputs, date, command
  for (size_t i = 1; i < table.size(); ++i)
    for (const std::string& property : words_of(table[i][1], ','))
      exhaustive_[{table[i][0], words_of(property).at(0)}] = {table[i][2], std::stoull(table[i][3])};
}

const ExhaustiveCheck* EvidenceTables::exhaustive(const std::string& unit, const std::string& property) const {
  const auto found = exhaustive_.find({unit, property});
  return found == exhaustive_.end() ? nullptr : &found->second;
}

std::vector<EvidenceOfRow> EvidenceTables::evidence_of(const ModelRow& row) const {
  std::vector<EvidenceOfRow> all;
  if (const auto found = in_files_.find(row.name()); found != in_files_.end()) all = found->second;
  for (size_t i = 1; i < live_.size(); ++i) {
    const std::vector<std::string>& live = live_[i];  // rows, unit, cases, date, command
    if (matches_any_glob(words_of(live[0], ','), row.name()))
      all.push_back({"live", live[1] + ", " + live[4], live[3], "", std::stoull(live[2])});
  }
  for (size_t i = 1; i < sources_.size(); ++i) {
    const std::vector<std::string>& source = sources_[i];  // tag, kind, date, source
    if (row.source.find(source[0]) != row.source.npos) all.push_back({source[1], source[3], source[2], "", 0});
  }
  return all;
}

std::vector<OpenPoint> EvidenceTables::open_points(const ModelRow& row) const {
  std::vector<OpenPoint> all;
  for (size_t i = 1; i < open_points_.size(); ++i) {
    const std::vector<std::string>& point = open_points_[i];  // rows, point, parameters, default and other reading
    const std::vector<std::string> names = words_of(point[2], ',');
    const bool reads = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      const Parameter* parameter = find_parameter(words_of(name).at(0));
      return parameter && parameter->used_by(row.model.kernel);
    });
    if (reads && matches_any_glob(words_of(point[0], ','), row.name()))
      all.push_back({point[1], point[2], point[3], point[4]});
  }
  return all;
}

int EvidenceTables::proven_products(const ModelRow& row, const std::string& property) const {
  const std::vector<std::string>& columns = proofs_.front();
  const auto column = std::find(columns.begin(), columns.end(), property);
  if (column == columns.end()) return 0;
  for (size_t i = 1; i < proofs_.size(); ++i) {
    const ModelRow* asked = find_model_row(proofs_[i][0]);
    if (!asked) throw std::runtime_error(corpus_ + "/evidence/proofs.tsv: no row " + proofs_[i][0]);
    if (function_of(*asked) != function_of(row)) continue;
    const std::string& answer = proofs_[i][size_t(column - columns.begin())];
    if (!answer.ends_with(" s")) return 0;  // a proof is "4.2 s" or "k=2: 4.1 s"
    int products = row.op.k;
    if (answer.starts_with("k=")) std::from_chars(answer.data() + 2, answer.data() + answer.size(), products);
    return products;
  }
  return 0;
}

std::string EvidenceTables::rate(const ModelRow& row) const {
  const auto found = std::find_if(rates_.begin() + 1, rates_.end(),
                                  [&](const std::vector<std::string>& line) { return line[0] == row.name(); });
  return found == rates_.end() ? "" : (*found)[1];
}

}  // namespace mmafuzz
