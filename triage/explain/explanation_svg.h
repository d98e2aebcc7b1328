// Draws an explanation as inline SVG for a page: currentColor for the text, the page's variables --fallen and --carry
// for bits that alignment drops and for carries, so that it follows a light or dark scheme. Bits of equal weight of two
// units stand in one column. `width` is in characters: below 80, lines are broken and digits stand below the exponents.
#pragma once

#include "triage/explain/explanation.h"

namespace mmafuzz {

std::string explanation_svg(const Explanation& explanation, size_t width = 100);

}  // namespace mmafuzz
