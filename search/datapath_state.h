// The state of a dot's datapath, as levels of factors. A *factor* is one observed quantity: a class of an operand, a
// shift, a property of the sum. A *level* is one of its classes of values, counted from 0 (docs/search.md has the
// table). A case has one level of each factor; two levels of two factors are a pair. A search that has covered all
// pairs has seen each level together with each level of every other factor. Source: combinatorial coverage (NIST SP
// 800-142).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "arithmetic/decode.h"
#include "arithmetic/wide_int.h"
#include "core/dot_case.h"

namespace mmafuzz {

class DatapathState {
 public:
  /// What a factor says. Those up to `cut` are of a lane or of c; `scale_a` and `scale_b` of a block of scales; the
  /// others of the case. `place` is by how much the exponent of an addend lies below the greatest one of its block,
  /// `cut` what part of the addend lies more than F bits below that; `greatest` says which addends have it in the first
  /// block, where c is. The kinds from `size` to `last` are of the model's last step: `size` is the sum's leading bit
  /// relative to the greatest exponent, `lost` what alignment dropped, `rest` what rounding dropped, `last` the last
  /// bit that stays; `result` is d. Units whose steps are not cut at a greatest exponent have neither `cut`,
  /// `greatest`, `size` nor `lost`.
  enum class Kind : uint8_t { a, b, place, sign, cut, scale_a, scale_b, greatest, size, lost, rest, last, result };
  static constexpr int kinds = static_cast<int>(Kind::result) + 1;
  /// The names of a kind and of its levels, in the order of their numbers (docs/search.md).
  static const char* name_of(Kind kind);
  static const std::vector<const char*>& levels_of(Kind kind);

  struct Factor {
    Kind kind;
    int lane;   ///< of a lane its number from 0, of c k, of scales the number of their block, else 0
    int first;  ///< number of its level 0 when the levels of all factors are counted through
  };

  /// For dots of floating-point numbers. The row must outlive the object.
  DatapathState(const Op& op, const DotModel& model);

  const std::vector<Factor>& factors() const { return factors_; }
  int levels() const { return levels_; }  ///< of all factors together
  /// Whether the unit's steps cut their addends at a distance below the greatest exponent.
  bool aligns() const { return aligns_; }
  std::string name_of(const Factor& factor) const;  ///< "a[3]", "c", "cut[c]", "size"

  /// The level of each factor in case `index`, in the order of factors(), and one unused entry; valid until the next
  /// call.
  const std::vector<uint8_t>& look(const Batch& batch, size_t index);

  /// Whether a case can have this level, or both levels (search/possible_states.cc). Each exclusion has a proof: a
  /// class of values that a format lacks, or one level that decides the other. A level or pair that is not excluded may
  /// still be impossible. Of a pair, the first factor comes first in factors().
  bool possible(const Factor& factor, int level) const;
  bool possible(const Factor& first, int level, const Factor& second, int other) const;

 private:
  static constexpr int no_exponent = INT32_MIN / 2;  ///< exponent of an addend that takes no part in alignment
  static constexpr size_t no_factor = SIZE_MAX;
  class Limits;
  static std::shared_ptr<const Limits> make_limits(const Op& op, const DotModel& model, int kept, int block);
  struct Term {
    uint128 significand = 0;
    int last = 0, exponent = no_exponent;  ///< weight of the last bit; sum of the exponents that alignment reads
  };
  Term product(const Number& x, const Number& y, const DotOperands& in, int lane) const;
  void put_place_and_cut(uint8_t* levels, const Term& t, int greatest) const;
  void add(Kind kind, int lane);
  void put_last_step(const struct LastStep& step);
  void set(Kind kind, int level);

  Op op_;
  const DotModel& model_;
  std::shared_ptr<const Limits> limits_;  ///< search/possible_states.cc
  DotCase dot_;
  std::vector<Factor> factors_;
  std::vector<size_t> lane_begin_;              ///< by lane: number of its first factor; c's behind them
  size_t sum_begin_ = 0, scales_begin_ = 0;     ///< numbers of the first of these factors
  std::array<size_t, kinds> factor_of_kind_{};  ///< by kind from `greatest` on: number of the factor, or no_factor
  bool aligns_;
  int levels_ = 0;
  int kept_, block_;                 ///< F, and how many products are aligned together
  std::vector<uint8_t> levels_now_;  ///< what look() returns
};

}  // namespace mmafuzz
