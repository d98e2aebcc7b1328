// How this program was called. The commands that it prints begin so, and can be run where this one was.
#pragma once

#include <string>

namespace mmafuzz {

/// The program's path as it was typed, quoted for a shell: "build/release/mmafuzz". "mmafuzz" until main sets it.
inline std::string& program_name() {
  static std::string name = "mmafuzz";
  return name;
}

}  // namespace mmafuzz
