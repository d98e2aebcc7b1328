// The output of Berkeley TestFloat's testfloat_gen as cases.
#pragma once

#include <string>

namespace mmafuzz {

/// The op line of a TestFloat function ("f32_mulAdd", "f64_to_f16", "f16_lt"), which compares IEEE 754's flags and
/// takes any NaN for any NaN; `words` are more of it ("round=up"). Throws BadInput with the functions that are known.
std::string op_of_testfloat(const std::string& function, const std::string& words);

/// A line of testfloat_gen as a line of case text for that op: operands, result and flags in hexadecimal. Throws
/// BadInput.
std::string case_of_testfloat(const std::string& function, const std::string& line);

}  // namespace mmafuzz
