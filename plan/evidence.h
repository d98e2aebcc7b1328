// The evidence for the rows of models: the tables in corpus/evidence, and the case files of the corpus with results of
// a row. docs/units.md, "Evidence", explains the kinds.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "oracles/models/model_rows.h"

namespace mmafuzz {

/// One piece of evidence for a row.
struct EvidenceOfRow {
  std::string kind;    ///< recorded, live, machine code, manual, paper, peer, analogy
  std::string source;  ///< a publication, or a unit and the command that compared it
  std::string date;    ///< a year, or a day as in "2026-11-23"
  std::string file;    ///< a path in the corpus; "" where there is no file
  uint64_t cases = 0;  ///< the row's cases in the file, or the cases that were compared live; 0 where there are none
};

/// A point on which published sources contradict each other, and their two readings, all in words but `parameters`:
/// names with commas.
struct OpenPoint {
  std::string point, parameters, default_reading, other_reading;
};

/// A check of a property on every input of some ops, which the unit passed.
struct ExhaustiveCheck {
  std::string ops;  ///< in words, as in "conversions of fp32 to 37 formats with round=nearest_even"
  uint64_t inputs = 0;
};

class EvidenceTables {
 public:
  using Table = std::vector<std::vector<std::string>>;

  /// Reads the tables in the folder `corpus`/evidence and counts the cases of the case files in `corpus`. Throws
  /// std::runtime_error where one of them cannot be read.
  explicit EvidenceTables(std::string corpus);

  std::vector<EvidenceOfRow> evidence_of(const ModelRow& row) const;
  std::vector<OpenPoint> open_points(const ModelRow& row) const;
  /// The k, the number of products, at which a solver has proven the row's claim of a property; 0 where none has.
  int proven_products(const ModelRow& row, const std::string& property) const;
  /// The check of a unit's claim on every input; nullptr where there is none.
  const ExhaustiveCheck* exhaustive(const std::string& unit, const std::string& property) const;
  /// The measured number of cases per second, as in "2.25e8"; "" where the row was not measured.
  std::string rate(const ModelRow& row) const;
  /// The name of the column of rates: "cases per second on ..., 2026-11-27".
  const std::string& how_rates_were_measured() const { return rates_.front().at(1); }

 private:
  Table read(const std::string& name, size_t columns) const;
  void count_cases();
  void read_exhaustive();

  std::string corpus_;
  Table files_, sources_, live_, open_points_, proofs_, rates_;                ///< line 0 names the columns
  std::map<std::string, std::vector<EvidenceOfRow>> in_files_;                 ///< keyed by the row's name
  std::map<std::pair<std::string, std::string>, ExhaustiveCheck> exhaustive_;  ///< keyed by unit and property
};

}  // namespace mmafuzz
