#include "search/possible_bins.h"

#include <algorithm>
#include <array>

namespace mmafuzz {
namespace {

/// Writes a bin's class in each dimension of a cross to `place`; false where the bin is not of the cross.
template <class Cross>
bool place_in(int bin, std::array<int, 5>& place) {
  if (bin < Cross::first || bin >= Cross::end) return false;
  int rest = bin - Cross::first;
  for (int d = 4; d >= 0; --d) {
    place[static_cast<size_t>(d)] = rest % Cross::size(d);
    rest /= Cross::size(d);
  }
  return true;
}

}  // namespace

bool lacks(const FormatFields& f, int kind) {
  switch (kind) {
    case 0: return f.specials == Specials::top_code;
    case 1: return f.subnormals == SubnormalRule::absent || f.subnormals == SubnormalRule::flushed;
    case 3: return !f.has_infinity();
    case 4: return !f.has_nan();
    default: return false;
  }
}

namespace {

/// The classes of the two factors of pair number `pair` of bins::Special: first <= second.
std::pair<int, int> kinds_of(int pair) {
  for (int first = 0; first < 5; ++first)
    for (int second = first; second < 5; ++second)
      if (first * (9 - first) / 2 + second == pair) return {first, second};
  return {0, 0};
}

/// Least and greatest shift of a class of bins::shift_class().
std::pair<int, int> shifts_of(int shift_class, int f) {
  if (shift_class == 11) return {f + 3, 1 << 20};
  if (shift_class >= 7) return {shift_class - 7 + f - 1, shift_class - 7 + f - 1};
  if (shift_class == 0) return {0, 0};
  if (shift_class == 6) return {17, std::max(17, f - 2)};
  return {shift_class <= 2 ? shift_class : (1 << (shift_class - 2)) + 1, 1 << (shift_class - 1)};
}

/// Whether only an alignment to a greatest exponent can reach a bin, on kernels whose steps have none (bins.h:
/// operation() and unaligned_sum()).
bool steps_rule_out(const KernelTraits& kernel, int bin) {
  using namespace bins;
  if (kernel.aligns()) return false;
  const bool in_ieee_steps = kernel.steps_are_operations();
  const bool adds_to_c = in_ieee_steps || kernel.c == KernelTraits::Joining::last;  // c is added by an IEEE operation
  std::array<int, 5> at = {};
  if (place_in<Floor>(bin, at) || place_in<Loss>(bin, at)) return true;
  if (place_in<Block>(bin, at) || place_in<Lane>(bin, at)) return in_ieee_steps;
  if (place_in<Carry>(bin, at)) return at[1] != 0;
  if (place_in<Align>(bin, at)) return at[2] != 0 && !(adds_to_c && at[2] == 2);
  return false;
}

bool dot_rules_out(const DotModel& m, int k, int bin) {
  using namespace bins;
  std::array<int, 5> at = {};
  if (steps_rule_out(traits_of(m), bin)) return true;
  const int block = m.block > 0 ? m.block : 1;
  const int blocks = (k + block - 1) / block;
  if (bin >= Disagree::first) return true;
  if (place_in<Container>(bin, at)) {
    const FormatFields& operand = at[0] == 0 ? m.a : m.b;
    const bool low_bits = operand.ignored_low_bits > 0, scales = m.scale_block > 0;
    if (!low_bits && !scales) return true;
    if (low_bits || at[1] != 3) return false;
    return !(at[0] == 0 ? m.scale_a : m.scale_b).has_nan();
  }
  if (place_in<Special>(bin, at)) {
    const auto [first, second] = kinds_of(at[0]);
    const bool pair = (!lacks(m.a, first) && !lacks(m.b, second)) || (!lacks(m.a, second) && !lacks(m.b, first));
    const bool none_special = first < 3 && second < 3 && at[1] < 3;
    const bool operands_have_none = lacks(m.a, 3) && lacks(m.b, 3);
    // Infinities elsewhere come from products of infinities, or from c.
    const bool elsewhere = (at[2] == 1 || at[2] == 2) && operands_have_none && at[1] != 3;
    return !pair || lacks(m.c, at[1]) || none_special || elsewhere;
  }
  if (place_in<Lane>(bin, at)) return at[0] >= std::min({block, k, 16}) || (at[1] == 2 && blocks == 1 && m.k >= k);
  if (place_in<Align>(bin, at) && traits_of(m).is_fused_sum() && m.fraction_bits > 0 && m.scale_block == 0) {
    const int f = m.fraction_bits;
    const auto [least, greatest] = shifts_of(at[1], f);
    const int own_bits = at[0] == 0 ? m.c.fraction_bits : m.a.fraction_bits + m.b.fraction_bits;
    if (at[1] == 6 && f - 2 < 17) return true;
    if (at[2] > 0) return greatest + own_bits <= f;  // as bins::possible_alignment
    return least > f + 1;
  }
  return false;
}

}  // namespace

bool ruled_out(const Op& op, const DotModel* model, int bin) {
  if (op.kind == OpKind::dot && model) return dot_rules_out(*model, op.k, bin);
  if (op.kind == OpKind::dot) return false;
  if (op.kind == OpKind::gemm) return bin < bins::GemmSlices::first;
  std::array<int, 5> at = {};
  if (!place_in<bins::Convert>(bin, at)) return true;
  const FormatFields& d = op.d.fields();
  const auto lacks_region = [&](int region) {  // of bins::result_value()
    if (d.integer) return (region >= 1 && region <= 4) || region >= 8;
    if (region == 8) return !d.has_infinity();
    if (region == 9) return !d.has_nan();
    return false;
  };
  return lacks_region(at[0]);
}

}  // namespace mmafuzz
