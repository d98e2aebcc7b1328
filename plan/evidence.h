// What rows rest on, as data: the tables of corpus/evidence, and the case files of the corpus that have results of a
// row.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "oracles/models/model_rows.h"

namespace mmafuzz {

/// One thing that speaks for a row.
struct EvidenceOfRow {
  std::string kind;  ///< recorded, live, machine code, manual, paper, peer, analogy
  std::string source, date;
  std::string file;    ///< of the corpus, where there is one
  uint64_t cases = 0;  ///< that the file holds of the row, or that were compared live
};

/// A point on which published sources contradict each other.
struct OpenPoint {
  std::string point, parameters, by_default, other;
};

/// That a unit was asked every input there is of some ops, and kept a property on all of them.
struct ExhaustiveCheck {
  std::string on;  ///< which ops
  uint64_t inputs = 0;
};

class EvidenceTables {
 public:
  using Table = std::vector<std::vector<std::string>>;

  /// Reads the tables and counts the cases of the files. Throws std::runtime_error where one cannot be read.
  explicit EvidenceTables(std::string corpus);

  std::vector<EvidenceOfRow> of(const ModelRow& row) const;
  std::vector<OpenPoint> open_points(const ModelRow& row) const;
  /// With how many products of an instruction a solver has proven a claim of the row; 0: it is tested only.
  int proven_products(const ModelRow& row, const std::string& property) const;
  /// The check of a unit's claim on every input; nullptr where there is none.
  const ExhaustiveCheck* exhaustive(const std::string& unit, const std::string& property) const;
  /// Cases per second that were measured, as text, and how; empty where the row was not measured.
  std::string rate(const ModelRow& row) const;
  const std::string& how_rates_were_measured() const { return rates_.front().at(1); }

 private:
  Table read(const std::string& name, size_t columns) const;
  void count_cases();
  void read_exhaustive();

  std::string corpus_;
  Table files_, sources_, live_, open_points_, proofs_, rates_;  ///< the first line has the names of the columns
  std::map<std::string, std::vector<EvidenceOfRow>> in_files_;   ///< by row
  std::map<std::pair<std::string, std::string>, ExhaustiveCheck> exhaustive_;  ///< by unit and property
};

}  // namespace mmafuzz
