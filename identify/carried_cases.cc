#include "identify/carried_cases.h"

#include <algorithm>

#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "oracles/models/parameters.h"
#include "search/walk_case.h"

namespace mmafuzz {
namespace {

/// A trace that keeps the last result of each block.
struct SumsOfBlocks {
  static constexpr bool enabled = true;
  bool has_one_block;  ///< in an instruction
  std::vector<uint64_t> sums;
  int instruction = -1, block = -1;

  void operator()(const Step& step) {
    const int block_of_step = has_one_block ? 0 : step.block;
    if (step.instruction == instruction && block_of_step == block) sums.pop_back();
    instruction = step.instruction;
    block = block_of_step;
    sums.push_back(step.result);
  }
};

std::vector<uint64_t> sums_after_blocks(const DotModel& row, const DotOperands& in) {
  SumsOfBlocks trace{products_per_step(row) == row.k, {}};
  evaluate_dot(row, in, trace);
  return trace.sums;
}

class CarriedCases {
 public:
  CarriedCases(const Op& op, const DotModel& row, const DotModel& other)
      : op_(op), row_(row), other_(other), step_(products_per_step(row)) {}

  /// Whether the blocks of both rows take the same products, and a dot has several blocks.
  bool are_possible() const {
    const bool same_blocks = row_.kernel == other_.kernel && row_.k == other_.k && row_.order == other_.order &&
                             products_per_step(row_) == products_per_step(other_);
    return same_blocks && step_ < op_.k && !op_.has_scales();
  }

  /// How likely a difference can be carried, by sums_after_blocks() of both rows: 0 if no sum but the last differs, 2
  /// if two sums differ in class, sign or exponent, else 1.
  int worth(const std::vector<uint64_t>& sums, const std::vector<uint64_t>& of_other) const {
    const FormatFields f = step_format(row_);
    int most = 0;
    // The sum after the last block is the result: no later product can change it.
    for (size_t i = 0; i + 1 < std::min(sums.size(), of_other.size()); ++i) {
      if (sums[i] == of_other[i]) continue;
      const Number x = decode(f, sums[i]), y = decode(f, of_other[i]);
      const bool are_unlike = x.cls != y.cls || x.negative != y.negative || x.scale_exponent != y.scale_exponent;
      most = std::max(most, are_unlike ? 2 : 1);
    }
    return most;
  }

  /// A case on which the results differ: case `index` of `cases` up to a block after which the sums differ, drawn
  /// products in the next block, and zeros in the others. nullopt where none is found in `tries` draws.
  std::optional<Batch> carry(const DotCases& cases, size_t index, int tries, CounterRng& rng) const {
    const std::vector<uint64_t> sums = sums_after_blocks(row_, cases.operands(index)),
                                of_other = sums_after_blocks(other_, cases.operands(index));
    std::vector<size_t> differing;
    for (size_t i = 0; i + 1 < std::min(sums.size(), of_other.size()); ++i)
      if (sums[i] != of_other[i] && !lanes_of(i + 1).empty()) differing.push_back(i);
    if (differing.empty()) return std::nullopt;
    Batch batch = cases.one(index);
    WalkCase s(op_, CornerHints{}, batch, 0, rng);
    DotCase one(op_);
    const auto count = static_cast<int>(differing.size());
    for (int n = 0; n < tries; ++n) {  // the last difference first: a try destroys later ones
      const size_t from = differing[static_cast<size_t>(count - 1 - n * count / tries)];
      for (size_t block = from + 1; block < sums.size(); ++block)
        for (const int lane : lanes_of(block)) s.zero_lane(lane);
      draw_block(s, lanes_of(from + 1), sums[from], rng);
      const DotOperands& in = one.load(batch, 0);
      if (!same_result(op_, evaluate_dot(row_, in), evaluate_dot(other_, in))) return batch;
    }
    return std::nullopt;
  }

 private:
  /// The lanes whose products a block adds. Blocks are numbered through all instructions.
  std::vector<int> lanes_of(size_t block) const {
    const int per_instruction = (row_.k + step_ - 1) / step_;
    const int first = static_cast<int>(block) / per_instruction * row_.k;
    const int begin = static_cast<int>(block) % per_instruction * step_;
    std::vector<int> lanes;
    for (int i = begin; i < std::min(begin + step_, row_.k); ++i)
      if (const int lane = first + product_at(row_, i); lane < op_.k) lanes.push_back(lane);
    return lanes;
  }

  /// Draws one product that cancels the leading bits of `sum`, or one to three products whose exponents differ from
  /// that of `sum` by about the number of bits that the row keeps.
  void draw_block(WalkCase& s, const std::vector<int>& lanes, uint64_t sum, CounterRng& rng) const {
    const Number n = decode(step_format(row_), sum);
    const int leading = n.significand ? n.exponent + bit_length(n.significand) - 1 : 0;
    const int kept = find_parameter("fraction_bits")->used_by(row_.kernel) ? row_.fraction_bits : s.fd.fraction_bits;
    if (rng.one_in(4) && n.significand) {
      const int bits = bit_length(n.significand) - 1;
      const uint64_t fraction = n.significand & low_mask(bits);
      const uint64_t held =
          bits > s.fa.fraction_bits ? fraction >> (bits - s.fa.fraction_bits) : fraction << (s.fa.fraction_bits - bits);
      const int lane = lanes[rng.below(static_cast<uint32_t>(lanes.size()))];
      return s.set_product(lane, !n.negative, leading, held, 0);
    }
    // Beside the limits of the alignment, or anywhere between.
    int distance;
    if (rng.one_in(2)) {
      distance = rng.between(-kept - 12, kept + 12);
    } else {
      distance = rng.one_in(2) ? kept : -kept;
      distance += rng.between(-3, 9);
    }
    const int top = leading + distance;
    const uint32_t many = 1 + rng.below(3);
    for (uint32_t i = 0; i < many; ++i) {
      const int lane = lanes[rng.below(static_cast<uint32_t>(lanes.size()))];
      s.draw_product(lane, top - (i ? static_cast<int>(rng.below(4)) : 0));
    }
  }

  const Op& op_;
  const DotModel &row_, &other_;
  int step_;  ///< products that a block adds
};

}  // namespace

std::optional<Batch> carried_case(const DotModel& row, const DotModel& other, const DotCases& cases,
                                  SumsAfterBlocks& sums, uint64_t seed, const std::function<bool()>& goes_on) {
  const CarriedCases carrying(cases.op(), row, other);
  if (!carrying.are_possible()) return std::nullopt;
  constexpr size_t traced_cases = 1 << 11, max_carried = 16;  // cases that are looked at; that are changed, by worth
  const size_t count = std::min(traced_cases, cases.size());
  while (sums.size() < count) sums.push_back(sums_after_blocks(row, cases.operands(sums.size())));
  std::vector<size_t> by_worth[3];
  for (size_t i = 0; i < count; ++i)
    by_worth[carrying.worth(sums[i], sums_after_blocks(other, cases.operands(i)))].push_back(i);
  CounterRng rng(seed, 0);
  constexpr int tries[] = {0, 8, 96};  // draws for one case, by its worth
  for (const int worth : {2, 1})
    for (size_t n = 0; n < std::min(max_carried, by_worth[worth].size()) && goes_on(); ++n)
      if (std::optional<Batch> one = carrying.carry(cases, by_worth[worth][n], tries[worth], rng)) return one;
  return std::nullopt;
}

}  // namespace mmafuzz
