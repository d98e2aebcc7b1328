// How this program was called, for the commands that it prints: they work where the reader typed the last one.
#pragma once

#include <string>

namespace mmafuzz {

/// "build/release/mmafuzz" as a shell takes it; "mmafuzz" until somebody says otherwise.
const std::string& program_name();
void set_program_name(const std::string& name);

}  // namespace mmafuzz
