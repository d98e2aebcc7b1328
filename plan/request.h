// Ops and units that a person names and that must exist, and how commands end.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "core/answers.h"
#include "core/registry.h"

namespace mmafuzz {

/// A wrong call or input. The command prints it on one line and exits with 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Exit codes of every command.
inline constexpr int exit_ok = 0;
inline constexpr int exit_divergence = 1;
inline constexpr int exit_bad_input = 2;
inline constexpr int exit_contradiction = 3;
inline constexpr int exit_unknown = 4;        ///< neither proven nor refuted, or too few answers
inline constexpr int exit_interrupted = 130;  ///< what a shell reports after Ctrl-C: 128 + SIGINT

/// Decides the exit code of a command by the answers of its units, and prints on standard error what was not answered.
/// Returns `code`, but exit_divergence in place of exit_ok where a unit broke on a case. Throws BadInput where `code`
/// is exit_ok and a unit is silent (silence_message).
int judge_answers(const AnswerCounts& counts, int code);

/// The op of an op line with or without its "op ". Throws BadInput.
Op op_from_text(const std::string& text);

/// The unit of registry() of that name, bound to the op. Throws BadInput with the refusal's reason.
std::unique_ptr<Unit> bind_or_fail(const std::string& name, const Op& op);
/// The same for another registry.
std::unique_ptr<Unit> bind_or_fail(const Registry& units, const std::string& name, const Op& op);

}  // namespace mmafuzz
