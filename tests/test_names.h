// Names of tests over a table: a filter by name finds them.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace mmafuzz {

/// The parameter's text with what a test's name may hold, and its number, which tells equal ones apart.
inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name + "_" + std::to_string(info.index);
}

}  // namespace mmafuzz
