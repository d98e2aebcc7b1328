// How this program was called, for the commands that it prints: they work where the reader typed the last one.
#pragma once

#include <string>

namespace mmafuzz {

/// "build/release/mmafuzz" as a shell takes it; "mmafuzz" until main says otherwise.
inline std::string& program_name() {
  static std::string name = "mmafuzz";
  return name;
}

}  // namespace mmafuzz
