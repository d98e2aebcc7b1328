#include "search/possible_bins.h"

#include <algorithm>
#include <array>

namespace mmafuzz {
namespace {

/// Writes a bin's class in each dimension of a cross to `classes`; false where the bin is not of the cross.
template <class Cross>
bool classes_in(int bin, std::array<int, 5>& classes) {
  if (bin < Cross::first || bin >= Cross::end) return false;
  int rest = bin - Cross::first;
  for (int d = 4; d >= 0; --d) {
    classes[static_cast<size_t>(d)] = rest % Cross::size(d);
    rest /= Cross::size(d);
  }
  return true;
}

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
  std::array<int, 5> classes = {};
  if (classes_in<Floor>(bin, classes) || classes_in<Loss>(bin, classes)) return true;
  if (classes_in<Block>(bin, classes) || classes_in<Lane>(bin, classes)) return in_ieee_steps;
  if (classes_in<Carry>(bin, classes)) return classes[1] != 0;
  if (classes_in<Align>(bin, classes)) return classes[2] != 0 && !(adds_to_c && classes[2] == 2);
  return false;
}

bool dot_rules_out(const DotModel& m, int k, int bin) {
  using namespace bins;
  std::array<int, 5> classes = {};
  if (steps_rule_out(traits_of(m), bin)) return true;
  const int block = m.block > 0 ? m.block : 1;
  const int blocks = (k + block - 1) / block;
  if (bin >= Disagree::first) return true;
  if (classes_in<Container>(bin, classes)) {
    const FormatFields& operand = classes[0] == 0 ? m.a : m.b;
    const bool low_bits = operand.ignored_low_bits > 0, scales = m.scale_block > 0;
    if (!low_bits && !scales) return true;
    if (low_bits || classes[1] != 3) return false;
    return !(classes[0] == 0 ? m.scale_a : m.scale_b).has_nan();
  }
  if (classes_in<Special>(bin, classes)) {
    const auto [first, second] = kinds_of(classes[0]);
    const bool pair = (!lacks(m.a, first) && !lacks(m.b, second)) || (!lacks(m.a, second) && !lacks(m.b, first));
    const bool none_special = first < 3 && second < 3 && classes[1] < 3;
    const bool operands_have_none = lacks(m.a, 3) && lacks(m.b, 3);
    // Infinities elsewhere come from products of infinities, or from c.
    const bool elsewhere = (classes[2] == 1 || classes[2] == 2) && operands_have_none && classes[1] != 3;
    return !pair || lacks(m.c, classes[1]) || none_special || elsewhere;
  }
  if (classes_in<Lane>(bin, classes))
    return classes[0] >= std::min({block, k, 16}) || (classes[1] == 2 && blocks == 1 && m.k >= k);
  if (classes_in<Align>(bin, classes) && traits_of(m).is_fused_sum() && m.fraction_bits > 0 && m.scale_block == 0) {
    const int f = m.fraction_bits;
    const auto [least, greatest] = shifts_of(classes[1], f);
    const int own_bits = classes[0] == 0 ? m.c.fraction_bits : m.a.fraction_bits + m.b.fraction_bits;
    if (classes[1] == 6 && f - 2 < 17) return true;
    if (classes[2] > 0) return greatest + own_bits <= f;  // as bins::possible_alignment
    return least > f + 1;
  }
  return false;
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

bool ruled_out(const Op& op, const DotModel* model, int bin) {
  if (op.kind == OpKind::dot && model) return dot_rules_out(*model, op.k, bin);
  if (op.kind == OpKind::dot) return false;
  if (op.kind == OpKind::gemm) return bin < bins::GemmSlices::first;
  std::array<int, 5> classes = {};
  if (!classes_in<bins::Convert>(bin, classes)) return true;
  const FormatFields& d = op.d.fields();
  const int region = classes[0];  // of bins::result_value()
  if (d.integer) return (region >= 1 && region <= 4) || region >= 8;
  return (region == 8 && !d.has_infinity()) || (region == 9 && !d.has_nan());
}

}  // namespace mmafuzz
