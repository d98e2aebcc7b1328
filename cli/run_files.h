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

/// Whether a word is the short or whole name of a unit.
bool is_unit(const std::string& word);

/// The name of the unit to run cases on: `chosen` unless "", else the unit of the cases' unit line (for a recording of
/// a GPU, "nvidia...", its model), else `exact` for blocks and `ieee` for scalar operations and conversions. Throws
/// BadInput where none of these names a unit.
std::string unit_for(const CaseBlock& block, const std::string& chosen);

/// The cases of --op and --case as case text. `notes` gets a sentence for each operand that was rounded. Throws
/// BadInput as typed_case() does.
std::string text_of_cases(const Op& op, const std::vector<std::string>& cases, std::vector<std::string>& notes);

/// Receives the cases of a block and what their unit computed.
using VisitBlock =
    std::function<void(const std::string& file, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes)>;

/// Runs the cases of each file on unit_for(block, chosen). Throws BadInput at a malformed line, after the cases before
/// it were visited, and at an op that the unit declines, unless `declined_cases` is given: then the cases of that op
/// are added to it and skipped.
void run_files(const std::vector<std::string>& files, const std::string& chosen, const VisitBlock& visit,
               uint64_t* declined_cases = nullptr);

}  // namespace mmafuzz::cli
