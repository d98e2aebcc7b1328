// A unit whose cases a process evaluates.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

/// Words that a process family takes after `?`, each with its meaning: timeout, for all of them.
inline constexpr char timeout_setting[] = "timeout";
inline constexpr char timeout_meaning[] = "seconds that the process may take to answer";
inline constexpr double default_timeout = 10;
inline constexpr char fresh_setting[] = "fresh";
inline constexpr char fresh_meaning[] = "1: in a process that has evaluated nothing before";

/// Seconds as text, between a hundredth and a day, or why they are none.
Result<double> parse_timeout(const std::string& unit, const std::string& value);

/// A unit of that name which the command evaluates, or a refusal: there is no such command, it does not speak the
/// protocol, or it does not take the op.
Result<std::unique_ptr<Unit>> bind_process(const std::string& name, const std::vector<std::string>& command,
                                           double timeout, bool fresh, const Op& op);

/// The name under which a unit that may remember cases begins anew each time that it is bound: of a family that takes
/// `fresh`.
std::string begun_anew(const std::string& unit, const Registry& registry);

/// The characters of a command that mean something in a unit's name or in case text are written %xx there.
std::string encode_command(std::string_view command);
/// The command, or a refusal: a % that no two hexadecimal digits follow.
Result<std::string> decode_command(std::string_view text);

}  // namespace mmafuzz
