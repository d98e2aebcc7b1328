// Streams case files through units: one bound unit per unit line and op, results in file order.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "cli/command.h"
#include "core/case_text.h"

namespace mmafuzz::cli {

/// Binds each (unit, op) once.
class UnitCache {
 public:
  const Unit& get(const std::string& name, const Op& op);
  /// Why there is no such unit for the op; nothing where there is.
  std::optional<Refusal> refusal(const std::string& name, const Op& op);

 private:
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Unit>> units_;
};

/// Whether a word is the name of a unit, short or whole.
bool is_unit(const std::string& word);

/// The unit that a block's cases are for: `chosen` if given, else the model of the file's unit line, else `ieee` for
/// scalar operations and conversions. Throws BadInput.
std::string unit_for(const CaseBlock& block, const std::string& chosen);

/// Cases of --op and --case as case text; `notes` receive a line for each operand that was rounded. Throws BadInput.
std::string text_of_cases(const Op& op, const std::vector<std::string>& cases, std::vector<std::string>& notes);

using VisitBlock =
    std::function<void(const std::string& file, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes)>;

/// Runs every file through its unit. A malformed line throws BadInput after what stands before it was visited, and so
/// does an op that the unit declines, unless `declined_cases` is there to count its cases.
void run_files(const std::vector<std::string>& files, const std::string& chosen, const VisitBlock& visit,
               uint64_t* declined_cases = nullptr);

}  // namespace mmafuzz::cli
