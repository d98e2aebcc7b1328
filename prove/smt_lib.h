// Expressions as SMT-LIB 2, and the values that a solver answers.
#pragma once

#include <map>
#include <string>

#include "prove/expression.h"

namespace mmafuzz::prove {

/// A query without its (check-sat): the logic, declarations, and each of `assertions` (one bit) = 1. The lines of
/// `comment` stand before it.
std::string to_smt_lib(const std::vector<Expression>& assertions, const std::string& comment = "");

/// The variables of the assertions, in the order in which they were made (Expressions::variable()).
std::vector<Expression> variables_of(const std::vector<Expression>& assertions);

/// Adds the values of a text like "((a0 #x3c00) (b0 #b0000000000000001))", by name. False where it has another form.
bool parse_values(const std::string& text, std::map<std::string, Bits>& values);

}  // namespace mmafuzz::prove
