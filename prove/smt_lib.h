// Formulas as SMT-LIB 2, and values read back.
#pragma once

#include <map>
#include <string>

#include "prove/expression.h"

namespace mmafuzz::prove {

/// Declarations and assertions: each of `assertions` (one bit) is 1. `comment` opens the text. No commands that solve.
std::string to_smt_lib(const std::vector<Expression>& assertions, const std::string& comment = "");

/// The variables of the assertions, in the order of their making.
std::vector<Expression> variables_of(const std::vector<Expression>& assertions);

/// "((a0 #x3c00) (b0 #b0000000000000001))": values by name. False where the text is not of that form.
bool parse_values(const std::string& text, std::map<std::string, Bits>& values);

}  // namespace mmafuzz::prove
