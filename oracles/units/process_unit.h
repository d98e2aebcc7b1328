// A unit whose cases a process evaluates.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

/// The settings that process families take after `?`, each with its meaning for help texts.
inline constexpr char timeout_setting[] = "timeout";
inline constexpr char timeout_meaning[] = "seconds that the process may take to answer";
inline constexpr double default_timeout = 10;  ///< seconds
inline constexpr char fresh_setting[] = "fresh";
inline constexpr char fresh_meaning[] = "1: in a process that has evaluated nothing before";

/// The seconds that `value` says, from 0.01 to 86400 (a day), or a refusal that names the unit.
Result<double> parse_timeout(const std::string& unit, const std::string& value);

/// A unit of that name which the command evaluates, or a refusal: there is no such command, it does not speak the
/// protocol, or it does not take the op. `timeout`: seconds for one exchange. `fresh`: in processes that no other unit
/// has used.
Result<std::unique_ptr<Unit>> bind_process(const std::string& name, const std::vector<std::string>& command,
                                           double timeout, bool fresh, const Op& op);

/// The unit's name with `fresh=1` if its family takes that setting: each bind of it starts with processes that have
/// evaluated nothing. Otherwise the name itself.
std::string begun_anew(const std::string& unit, const Registry& registry);

/// A command as it stands in a unit's name: %xx (two hexadecimal digits) for each character that could mean something
/// there or in case text, that is, for all but letters, digits and _./:=+@~^-
std::string encode_command(std::string_view command);
/// The inverse, or a refusal: of a % without two hexadecimal digits behind it, and of %00.
Result<std::string> decode_command(std::string_view text);

}  // namespace mmafuzz
