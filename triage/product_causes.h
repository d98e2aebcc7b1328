// Why two matrix products differ where one of them is a scheme (Ozaki, error-corrected SGEMM): its settings are
// replaced by those of the other scheme, or by settings that lose nothing, until the products agree in every element.
// A difference that remains is due to special values, to signs of zeros, or to the scheme itself. The words of causes
// have the form "ozaki.sum", "split.scale".
#pragma once

#include <memory>

#include "triage/causes.h"

namespace mmafuzz {

/// The judge and the registry must outlive the result. nullptr unless it compares two matrix products, one with
/// settings.
std::unique_ptr<CauseMethod> product_causes(const Judge& judge, const Registry& registry);

/// The meaning of a word like "ozaki.sum", for people; empty for words that are not about a scheme.
std::string meaning_of_scheme_word(const std::string& word);

/// Whether a word is a setting of a scheme, and not a difference that remains when all settings are replaced.
bool is_scheme_setting(const std::string& word);

}  // namespace mmafuzz
