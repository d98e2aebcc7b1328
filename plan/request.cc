#include "plan/request.h"

#include <cstdio>

#include "plan/registry.h"
#include "plan/unit_alias.h"

namespace mmafuzz {

int judge_answers(const AnswerCounts& counts, int code) {
  if (const std::string silent = silence_message(counts); code == exit_ok && !silent.empty()) throw BadInput(silent);
  for (const std::string& sentence : missing_answers(counts)) std::fprintf(stderr, "mmafuzz: %s\n", sentence.c_str());
  if (code != exit_ok) return code;
  return any_broke(counts) ? exit_divergence : exit_ok;
}

Op op_from_text(const std::string& text) {
  size_t column = 0;
  const std::string words = text.starts_with("op ") ? text.substr(3) : text;
  Result<Op> op = parse_op(words, column);
  if (!op) throw BadInput("op '" + text + "', column " + std::to_string(column + 1) + ": " + op.refusal().reason);
  return *op;
}

std::unique_ptr<Unit> bind_or_fail(const std::string& name, const Op& op) { return bind_or_fail(registry(), name, op); }

std::unique_ptr<Unit> bind_or_fail(const Registry& units, const std::string& name, const Op& op) {
  Result<std::unique_ptr<Unit>> unit = units.bind(name, op);
  if (unit) return std::move(*unit);
  const std::string& reason = unit.refusal().reason;
  const bool is_declined = unit.refusal().kind == Refusal::Kind::declined && !is_alias(name);
  const size_t named = reason.starts_with(name + ": ") ? name.size() + 2 : 0;
  throw BadInput(is_declined ? "unit " + name + " declines: " + reason.substr(named) : reason);
}

}  // namespace mmafuzz
