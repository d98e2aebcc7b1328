// Cases as people type them: decimals, hex floats and encodings, made a line of case text.
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

/// What --help says about cases.
inline constexpr char typed_case_help[] =
    "Words of a case: if each is of exactly the hex digits of its format, they are encodings, as in a case file. "
    "Otherwise they are numbers: decimals (2, 0.1, -1e-5), hex floats (0x1.8p+3), inf, nan; encodings that cannot be "
    "numbers (3c00) may stand among them, and then a whole number needs its point (2.).";

/// The line of a case that is typed with `|` between its fields. Throws BadInput where a word is no number of its
/// format, or could be a number as well as an encoding.
TypedCase typed_case(const Op& op, const std::string& text);

/// The encoding of a number in decimal or hexadecimal floating point, rounded to nearest even. `inexact` says whether
/// it was rounded. Throws BadInput where it is no number, or none of the format: too great, an infinity or NaN that
/// there is not.
uint64_t encoding_of(const Format& format, const std::string& word, bool& inexact);

}  // namespace mmafuzz
