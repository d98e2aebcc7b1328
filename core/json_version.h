// The version of what --json prints (docs/json.md).
#pragma once

namespace mmafuzz {

/// Raised when a key goes, or means something else; a new key leaves it.
inline constexpr int json_version = 2;

}  // namespace mmafuzz
