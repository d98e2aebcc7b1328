// Runs the cases of files on units, in file order. A unit is bound once for each name and op of a file.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "cli/command.h"
#include "core/case_text.h"

namespace mmafuzz::cli {

/// The units that were bound so far, each once for a name and an op. The cache owns them.
class UnitCache {
 public:
  /// Throws BadInput where the name does not bind.
  const Unit& get(const std::string& name, const Op& op);
  /// Why the name does not bind to the op; nullopt where it does.
  std::optional<Refusal> refusal(const std::string& name, const Op& op);

 private:
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Unit>> units_;  ///< keyed by name and op line
};

/// The key of a unit's answers on one op: a unit that is silent there is told although it answered other ops.
std::string on_op(const std::string& unit, const Op& op);

/// Whether a word is the short or whole name of a unit.
bool is_unit(const std::string& word);

/// The name of the unit to run cases on: `chosen` unless "", else that of the unit line (the model, where it names a
/// GPU by nvidia...), else `exact` for blocks, `ieee` for scalar operations and conversions. Throws BadInput for other
/// ops.
std::string unit_for(const CaseBlock& block, const std::string& chosen);

/// The cases of --op and --case as case text; `notes` gets a sentence for each rounded operand. Throws as typed_case().
std::string text_of_cases(const Op& op, const std::vector<std::string>& cases, std::vector<std::string>& notes);

/// Receives the cases of a block and what their unit computed.
using VisitBlock =
    std::function<void(const std::string& file, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes)>;

/// Runs the cases of each file on unit_for(block, chosen). Throws BadInput, after the cases before were visited, at a
/// malformed line and at an op that the unit declines; with `declined_cases` that op's cases are counted and skipped.
void run_files(const std::vector<std::string>& files, const std::string& chosen, const VisitBlock& visit,
               uint64_t* declined_cases = nullptr);

}  // namespace mmafuzz::cli
