#include "cli/run_files.h"

#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "plan/typed_case.h"
#include "plan/unit_alias.h"

namespace mmafuzz::cli {

const Unit& UnitCache::get(const std::string& name, const Op& op) {
  std::unique_ptr<Unit>& unit = units_[{name, to_text(op)}];
  if (!unit) unit = bind_or_fail(name, op);
  return *unit;
}

std::optional<Refusal> UnitCache::refusal(const std::string& name, const Op& op) {
  std::unique_ptr<Unit>& bound = units_[{name, to_text(op)}];
  if (bound) return {};
  Result<std::unique_ptr<Unit>> unit = registry().bind(name, op);
  if (!unit) return unit.refusal();
  bound = std::move(*unit);
  return {};
}

std::string on_op(const std::string& unit, const Op& op) { return unit + " on '" + to_text(op) + "'"; }

bool is_unit(const std::string& word) { return is_alias(word) || registry().knows(word); }

std::string unit_for(const CaseBlock& block, const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  if (!block.unit.empty() && !registry().knows(block.unit)) {
    if (!is_provenance(block.unit)) return block.unit;  // an unknown name: the message of binding has the nearest ones
    const Result<std::string> model = model_of_provenance(block.unit);
    if (!model) throw BadInput(model.refusal().reason);
    return *model;
  }
  if (!block.unit.empty()) return block.unit;
  const OpKind kind = block.batch.op().kind;
  if (block.batch.op().is_of_blocks()) return "exact";
  if (kind == OpKind::scalar || kind == OpKind::convert) return "ieee";
  throw BadInput("no unit: the cases have no 'unit' line, name one with --unit (explain: --units)");
}

std::string text_of_cases(const Op& op, const std::vector<std::string>& cases, std::vector<std::string>& notes) {
  std::string text = case_text_start + to_text(op) + "\n";
  for (const std::string& one : cases) {
    const TypedCase typed = typed_case(op, one);
    notes.insert(notes.end(), typed.notes.begin(), typed.notes.end());
    text += typed.line + "\n";
  }
  return text;
}

void run_files(const std::vector<std::string>& files, const std::string& chosen, const VisitBlock& visit,
               uint64_t* declined_cases) {
  Outcomes outcomes;
  for (const std::string& file : files) {
    UnitCache units;  // for this file alone: a unit with fresh=1 starts a new process when it is bound
    CaseReader reader(file);
    CaseBlock block;
    while (reader.next(block, block_cases)) {
      // That `chosen` is unknown is no error of a line of the file; that it declines the line's op is.
      const std::optional<Refusal> wrong = chosen.empty() ? std::nullopt : units.refusal(chosen, block.batch.op());
      if (wrong && wrong->kind != Refusal::Kind::declined) throw BadInput(wrong->reason);
      try {
        const std::string name = unit_for(block, chosen);
        const std::optional<Refusal> refusal = units.refusal(name, block.batch.op());
        if (declined_cases && refusal && refusal->kind == Refusal::Kind::declined) {
          *declined_cases += block.batch.size();
          continue;
        }
        const Unit& unit = units.get(name, block.batch.op());
        unit.run(block.batch, outcomes);
        visit(file, block, unit, outcomes);
      } catch (const BadInput& e) {
        throw BadInput((file == "-" ? "<stdin>" : file) + ":" + std::to_string(block.line.front()) + ":1: " + e.what());
      }
    }
    if (reader.error()) throw BadInput(reader.error()->to_string());
  }
}

}  // namespace mmafuzz::cli
