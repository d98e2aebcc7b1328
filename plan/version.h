// Which mmafuzz this is.
#pragma once

#include <string>

namespace mmafuzz {

/// Major, minor and patch, as in "1.2.3". CMakeLists.txt defines it for all programs and packages.
const char* version_number();

/// The commit that was built, with a + where the tree had changes; "" where it is unknown. ci/packaging/commit.cmake
/// writes it into programs and libraries that are linked with mmafuzz_commit.
const char* build_commit();

/// "1.2.3 (2f1c9aa0b3)".
inline std::string version_text() {
  const std::string commit = build_commit();
  return version_number() + (commit.empty() ? "" : " (" + commit + ")");
}

}  // namespace mmafuzz
