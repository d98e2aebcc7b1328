// Which mmafuzz this is.
#pragma once

#include <string>

namespace mmafuzz {

/// The commit that was built, with a + where the tree had changes; empty where nobody knows. ci/packaging/commit.cmake
/// writes it into programs and libraries that are linked with mmafuzz_commit.
const char* build_commit();

/// "0.1.0 (2f1c9aa0b3)".
inline std::string version_text() {
  const std::string commit = build_commit();
  return commit.empty() ? MMAFUZZ_VERSION : MMAFUZZ_VERSION " (" + commit + ")";
}

}  // namespace mmafuzz
