// The output of Berkeley TestFloat's testfloat_gen as cases.
#pragma once

#include <string>

namespace mmafuzz {

/// The op line, without "op ", of a TestFloat function ("f32_mulAdd", "f64_to_f16", "f16_lt"), with flags=ieee and
/// nan=any; `words` are further attributes ("round=up"). Throws BadInput, which names the known functions.
std::string op_of_testfloat(const std::string& function, const std::string& words);

/// A line of testfloat_gen (operands, result and flags in hexadecimal) as a case of that op in case text. Throws
/// BadInput.
std::string case_of_testfloat(const std::string& function, const std::string& line);

}  // namespace mmafuzz
