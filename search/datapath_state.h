// The state of a dot's datapath, as levels of factors: what each lane holds and where it stands, what the sum and its
// rounding are. A case has one level of each factor. Two levels of two factors are a pair: a search that has met every
// pair has seen each of them beside each other one. Source: combinatorial coverage (NIST SP 800-142).
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
  /// others of the case. `place` is how far the exponents of an addend stand below the greatest one of its block, `cut`
  /// what of it lies more than F bits below that; `greatest` who has it in the first block, where c is. What follows it
  /// is of the model's last step. Units whose steps are not cut at a greatest exponent have neither `cut`, `greatest`,
  /// `size` nor `lost`.
  enum class Kind : uint8_t { a, b, place, sign, cut, scale_a, scale_b, greatest, size, lost, rest, last, result };
  static constexpr int kinds = static_cast<int>(Kind::result) + 1;
  static const char* name_of(Kind kind);
  static const std::vector<const char*>& levels_of(Kind kind);

  struct Factor {
    Kind kind;
    int lane;   ///< of a lane its number, of c k, of scales their block, else 0
    int first;  ///< number of its level 0 among the levels of all factors
  };

  /// Of dots of floating-point numbers on a row, which must outlive it.
  DatapathState(const Op& op, const DotModel& model);

  const std::vector<Factor>& factors() const { return factors_; }
  int levels() const { return levels_; }
  /// Whether the unit's steps are cut at a greatest exponent.
  bool aligns() const { return aligns_; }
  std::string name_of(const Factor& factor) const;

  /// The level of each factor in a case.
  const std::vector<uint8_t>& look(const Batch& batch, size_t index);

  /// Whether a case may have this level; whether it may have both. What is ruled out has a proof: a class of values
  /// that a format lacks, or one level that decides the other. What is not may still be impossible.
  bool possible(const Factor& factor, int level) const;
  bool possible(const Factor& first, int level, const Factor& second, int other) const;

 private:
  static constexpr int none = INT32_MIN / 2;
  static constexpr size_t unused = SIZE_MAX;
  class Trace;
  class Limits;
  static std::shared_ptr<const Limits> make_limits(const Op& op, const DotModel& model, int kept, int block);
  struct Term {
    uint128 significand = 0;
    int last = 0, exponent = none;  ///< weights of its last bit, and of the leading bits of its factors
  };
  Term product(const Number& x, const Number& y, const DotOperands& in, int lane) const;
  void put(uint8_t* of, const Term& t, int greatest) const;
  void add(Kind kind, int lane);
  void set(Kind kind, int level);

  Op op_;
  const DotModel& model_;
  std::shared_ptr<const Limits> limits_;  ///< search/possible_states.cc
  DotCase one_;
  std::vector<Factor> factors_;
  std::vector<size_t> of_lane_;  ///< by lane, its first factor
  size_t of_sum_ = 0, of_scales_ = 0;
  std::array<size_t, kinds> of_kind_{};  ///< of the sum, its place among the factors
  bool aligns_;
  int levels_ = 0;
  int kept_, block_;  ///< F, and how many products are aligned together
  std::vector<uint8_t> now_;
};

}  // namespace mmafuzz
