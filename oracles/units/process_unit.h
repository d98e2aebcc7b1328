// A unit whose cases a process evaluates.
#pragma once

#include "core/registry.h"

namespace mmafuzz {

/// The settings that process families take after `?`, each with its meaning for help texts.
inline constexpr char timeout_setting[] = "timeout";
inline constexpr char timeout_meaning[] = "seconds that the process may take to answer";
inline constexpr char fresh_setting[] = "fresh";
inline constexpr char fresh_meaning[] = "1: in a process that has evaluated nothing before";

struct ProcessSettings {
  double timeout = 10;    ///< seconds for one exchange
  bool is_fresh = false;  ///< in processes that no other unit has used

  /// Takes a setting of a unit's name. False if it is none of these; a refusal for a timeout below 0.01 or above 86400.
  Result<bool> take(const std::string& unit, const std::string& setting, const std::string& value);
};

/// A unit of that name which the command evaluates, or a refusal: there is no such command, it does not speak the
/// protocol, or it does not take the op.
Result<std::unique_ptr<Unit>> bind_process(const std::string& name, const std::vector<std::string>& command,
                                           const ProcessSettings& settings, const Op& op);

/// The unit's name with `fresh=1` if its family takes that setting: each bind of it starts with processes that have
/// evaluated nothing. Otherwise the name itself.
std::string begun_anew(const std::string& unit, const Registry& registry);

/// A command as it stands in a unit's name: %xx (two hexadecimal digits) for each character that could mean something
/// there or in case text, that is, for all but letters, digits and _./:=+@~^-
std::string encode_command(std::string_view command);
/// The inverse, or a refusal: of a % without two hexadecimal digits behind it, and of %00.
Result<std::string> decode_command(std::string_view text);

}  // namespace mmafuzz
