// What people ask for in text, on the command line or in a table: ops and units that must exist; and how commands end.
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
inline constexpr int exit_interrupted = 130;  ///< as shells say it of Ctrl-C

/// How a command ends whose units did not answer everything: says on standard error what was not answered. Returns
/// `code`, or exit_divergence in place of exit_ok where a unit broke on a case. Where the code would be exit_ok and a
/// unit answered nothing, throws BadInput.
int judge_answers(const AnswerCounts& counts, int code);

/// Parses an op with or without the leading "op ". Throws BadInput.
Op op_from_text(const std::string& text);

/// A unit of registry() for the op. Throws BadInput with the refusal's reason.
std::unique_ptr<Unit> bind_or_fail(const std::string& name, const Op& op);
/// The same of another registry.
std::unique_ptr<Unit> bind_or_fail(const Registry& units, const std::string& name, const Op& op);

}  // namespace mmafuzz
