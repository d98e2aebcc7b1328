// Why two matrix products differ where one of them is a scheme (Ozaki, error-corrected SGEMM): its settings are
// replaced by those of the other scheme, or by what loses nothing, until the products agree in every element. What is
// left is a matter of special values, of signs of zeros, or of the scheme itself. Words of causes are "ozaki.sum",
// "split.scale".
#pragma once

#include <map>

#include "triage/judge.h"

namespace mmafuzz {

class ProductCauses {
 public:
  /// Whether it speaks of the judge's units: two of them on matrices, one of which has settings.
  static bool speaks_of(const Judge& judge, const Registry& registry);

  /// The judge and the registry must outlive it.
  ProductCauses(const Judge& judge, const Registry& registry);

  std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts);
  std::string detail_of_one(const std::string& word) const;
  std::string fact_of_one(const std::string& word) const;

 private:
  /// One replaceable thing of the scheme.
  struct Step {
    std::string word, first, second;
    std::vector<std::pair<std::string, std::string>> settings;  ///< with it
    std::string path;                                           ///< of the unit with it; empty: as it is
  };

  std::string replaced_name(const std::vector<size_t>& set) const;
  const Unit* bound(const std::string& name);
  std::string scheme_of(size_t side) const;
  const Step* find_step(const std::string& word) const;

  const Judge& judge_;
  const Registry& registry_;
  size_t replaced_ = 0;       ///< the unit whose settings are replaced
  bool same_scheme_ = false;  ///< then the settings explain everything, or something is wrong
  std::string scheme_;        ///< "ozaki": what words begin with
  std::vector<Setting> own_;
  std::vector<Step> steps_;
  std::map<std::string, std::unique_ptr<Unit>> units_;  ///< by name; null where it does not bind
};

/// What "ozaki.sum" is about; empty for words that are not about a scheme.
std::string meaning_of_scheme_word(const std::string& word);

/// Whether the word is a setting of a scheme, not what is left when all settings are replaced.
bool is_scheme_setting(const std::string& word);

}  // namespace mmafuzz
