// Why two matrix products differ where one of them is a scheme (Ozaki, error-corrected SGEMM): its settings are
// replaced by those of the other scheme, or by what loses nothing, until the products agree in every element. What is
// left is a matter of special values, of signs of zeros, or of the scheme itself. Words of causes are "ozaki.sum",
// "split.scale".
#pragma once

#include <memory>

#include "triage/causes.h"

namespace mmafuzz {

/// The judge and the registry must outlive it. Null where it does not speak of the judge's units: two of them on
/// matrices, one of which has settings.
std::unique_ptr<CauseMethod> product_causes(const Judge& judge, const Registry& registry);

/// What "ozaki.sum" is about; empty for words that are not about a scheme.
std::string meaning_of_scheme_word(const std::string& word);

/// Whether the word is a setting of a scheme, not what is left when all settings are replaced.
bool is_scheme_setting(const std::string& word);

}  // namespace mmafuzz
