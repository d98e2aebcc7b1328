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
#include "search/mutator.h"

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

  /// Which levels there may be, and which of them together (search/possible_states.cc).
  class Limits {
   public:
    Limits(const Op& op, const DotModel& model);
    bool possible(const Factor& factor, int level) const;
    bool possible(const Factor& first, int level, const Factor& second, int other) const;
    /// F, and how many products are aligned together.
    int kept() const { return kept_; }
    int block() const { return block_; }

   private:
    struct Range {
      int least = 1 << 20, most = -1;
    };
    Range shifts(int place) const;
    static bool stands(const Factor& f, int x);
    Range standing(const Factor& f, int x) const;
    const Range& exponents(int lane) const;
    int spread(int lane, int other) const;
    int highest_above(int lane, int besides) const;
    bool is_dead(const Factor& f, int level) const;
    bool c_may_stand(bool normal, int place) const;
    bool in_one_lane(const Factor& f, int x, const Factor& g, int y) const;
    bool beside_each_other(const Factor& f, int x, const Factor& g, int y) const;
    bool with_greatest(const Factor& f, int x, int greatest) const;
    bool of_exact_products(const Factor& f, int x, int result) const;
    bool with_result(const Factor& f, int x, int result) const;
    bool with_sum(const Factor& f, int x, const Factor& g, int y) const;
    int end_of_block(int lane) const;
    unsigned all_cuts(int lane, int place) const;
    bool is_single() const;
    bool is_aligned() const;
    bool cuts_all() const;
    bool only_c_leads(const Factor& f, int x) const;
    int bit_of_result(int result) const;
    bool lanes_have_specials() const;
    int others_above(int lane) const;
    double products_below_c(const Factor& f, int x) const;
    bool is_other_result(const Factor& f, int x, const Factor& g, int y) const;
    int most_above(double part_of_lane, double part_of_c) const;
    Range above(int size) const;
    bool can_leave(int size, int rest) const;

    Op op_;
    DotModel model_;  ///< with a and b as the unit reads them
    int kept_, block_;
    Range of_factors_, of_product_, of_c_;  ///< of exponents: of a times b, the same with scales, of c
    /// Cuts that there are, as bits: of a product in the first block or a later one by the classes of its factors, of c
    /// by its class, and by the place.
    uint8_t cuts_[2][2][2][13] = {}, cuts_of_c_[2][13] = {};
    /// Shifts of each cut: of products in the first block, in a later one, and of c.
    Range cut_shifts_[3][6];
  };

  const std::vector<Factor>& factors() const { return factors_; }
  int levels() const { return levels_; }
  /// Whether the unit's steps are cut at a greatest exponent.
  bool aligns() const { return aligns_; }
  std::string name_of(const Factor& factor) const;

  /// The level of each factor in a case.
  const std::vector<uint8_t>& look(const Batch& batch, size_t index);

  /// Whether a case may have this level; whether it may have both. What is ruled out has a proof: a class of values
  /// that a format lacks, or one level that decides the other. What is not may still be impossible.
  bool possible(const Factor& factor, int level) const { return limits_->possible(factor, level); }
  bool possible(const Factor& first, int level, const Factor& second, int other) const {
    return limits_->possible(first, level, second, other);
  }

 private:
  static constexpr int none = INT32_MIN / 2;
  static constexpr size_t unused = SIZE_MAX;
  class Trace;
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
  std::shared_ptr<const Limits> limits_;
  DotCase one_;
  std::vector<Factor> factors_;
  std::vector<size_t> of_lane_;  ///< by lane, its first factor
  size_t of_sum_ = 0, of_scales_ = 0;
  std::array<size_t, kinds> of_kind_{};  ///< of the sum, its place among the factors
  bool aligns_;
  int levels_ = 0, kept_, block_;
  std::vector<uint8_t> now_;
};

}  // namespace mmafuzz
