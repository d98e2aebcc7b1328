// Cases as people type them, with decimals, hex floats and encodings, as lines of case text.
#pragma once

#include <string>
#include <vector>

#include "core/op.h"

namespace mmafuzz {

/// A line of case text, and a sentence for each operand that had to be rounded to its format.
struct TypedCase {
  std::string line;
  std::vector<std::string> notes;
};

/// The text about typed cases in --help.
inline constexpr char typed_case_help[] =
    "Words of a case: if each is of exactly the hex digits of its format, they are encodings, as in a case file. "
    "Otherwise they are numbers: decimals (2, 0.1, -1e-5), hex floats (0x1.8p+3), inf, nan; encodings that cannot be "
    "numbers (3c00) may stand among them, and then a whole number needs its point (2.).";

/// Converts a case that is typed with `|` between its fields. Throws BadInput where a word is no number of its format,
/// or could be a number as well as an encoding.
TypedCase typed_case(const Op& op, const std::string& text);

/// The encoding of a number, a decimal or a hex float, rounded to nearest, ties to even; `inexact` is set to whether
/// that changed it. Throws BadInput where the word is no number, or one that the format does not have: too large, or an
/// infinity, a NaN, a sign or a zero that it lacks.
uint64_t encoding_of(const Format& format, const std::string& word, bool& inexact);

}  // namespace mmafuzz
