// Properties of quantized blocks, whatever unit made them (docs/quantizers.md). A result has the scale at index 0 and
// the code of number i at index 1 + i. An element is the number that a code stands for before scales multiply it.
#include <algorithm>
#include <numeric>

#include "core/block_case.h"
#include "oracles/properties/conversions.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// The encoding of exactly that value; nullopt where the format has no such number.
std::optional<uint64_t> encoding_of(const FormatFields& f, const Exact& x) {
  const Rounded r = round_exact(f, x, {});
  return r.flags & (flag::inexact | flag::overflow) ? std::nullopt : std::optional(r.encoding);
}

/// Doubles the numbers of a case's input, of format f. Returns the exponent of the greatest one's leading bit before;
/// nullopt where one is not finite, or its double is no number of f.
std::optional<int> double_numbers(const FormatFields& f, Column& numbers, size_t index) {
  int top = f.subnormal_bit() - 1;
  for (int i = 0; i < numbers.count(); ++i) {
    Number n = decode(f, numbers.get(index, i));
    if (!is_number(n.cls)) return std::nullopt;
    if (n.cls == NumberClass::zero) continue;
    top = std::max(top, n.exponent + bit_length(n.significand) - 1);
    n.exponent += 1;
    const std::optional<uint64_t> twice = encoding_of(f, to_exact(n));
    if (!twice) return std::nullopt;
    numbers.set(index, i, *twice);
  }
  return top;
}

/// Whether quantizing the numbers of a block's codes gives the same numbers under an op's rule. Under these four rules
/// the greatest of the numbers asks for the same scale or, under ceil and rceil, for half of it, under which the
/// doubled elements exist. Not under the others, where amax / scale may exceed the greatest element without taking the
/// next scale, or round up to where the next scale begins.
bool is_kept_by(const Op& op) {
  const bool has_such_rule = op.scale_rule == ScaleRule::floor || op.scale_rule == ScaleRule::even ||
                             op.scale_rule == ScaleRule::ceil || op.scale_rule == ScaleRule::rceil;
  return op.kind == OpKind::quantize && is_nearest(op.rounding) && has_such_rule &&
         op.scale_a.fields().fraction_bits == 0 && op.via.fields().width == 0;
}

/// The numbers of a block, with the scale and the codes that a unit gave them.
class GivenBlock {
 public:
  GivenBlock(const Batch& cases, size_t index, const Column& results)
      : cases_(cases), op_(cases.op()), results_(results), index_(index), tensor_(tensor_scale_of(cases, index)) {
    scale_ = decode(op_.scale_a.fields(), results.get(index, 0));
    is_finite_ = tensor_.cls == NumberClass::finite && !tensor_.negative;
    for (int i = 0; i < op_.k && is_finite_; ++i) is_finite_ = is_number(number(i).cls);
  }

  /// Whether all numbers are finite, and the tensor's scale is finite and above zero.
  bool is_finite() const { return is_finite_; }
  /// Whether, in addition, the block's scale is finite and above zero.
  bool has_scale() const { return is_finite_ && scale_.cls == NumberClass::finite && !scale_.negative; }

  Number number(int i) const { return decode(op_.a.fields(), cases_.inputs()[0].get(index_, i)); }
  uint64_t code(int i) const { return results_.get(index_, 1 + i); }
  /// The element of a code.
  Number element(uint64_t code) const {
    Number n = decode(op_.d.fields(), code);
    n.exponent += element_unit(op_.d.fields());
    return n;
  }
  /// A number times the scales.
  Exact scaled(const Exact& x) const { return exact_product(exact_product(x, to_exact(scale_)), to_exact(tensor_)); }
  Exact value(int i) const { return scaled(to_exact(element(code(i)))); }

 private:
  const Batch& cases_;
  const Op& op_;
  const Column& results_;
  size_t index_;
  Number scale_, tensor_;
  bool is_finite_;
};

// Conditions of properties and of claims, about ops that quantize.

bool rounds_to_nearest(const Op& op) { return is_nearest(op.rounding); }
bool rounds_by_rule(const Op& op) { return op.rounding != Rounding::stochastic; }
bool takes_great_enough_scales(const Op& op) {
  return op.via.fields().width == 0 && (op.scale_rule == ScaleRule::ceil || op.scale_rule == ScaleRule::rceil);
}
bool shifts_with_tensor(const Op& op) {
  return op.has_tensor_scale() && rounds_by_rule(op) && op.via.fields().width == 0;
}

/// A statement about the result of a single block.
class OfOneBlock final : public Property {
 public:
  using Applies = bool (*)(const Op& op);
  /// The least index in the result of a case at which the statement fails; -1: none.
  using Broken = int (*)(const Batch& cases, size_t index, const Column& results);

  OfOneBlock(const char* name, const char* statement, Broken broken, Applies where = nullptr)
      : Property(name, statement), broken_(broken), applies_(where) {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::quantize && (!applies_ || applies_(op));
  }

 protected:
  bool judges_alone() const override { return true; }
  std::vector<int> broken_elements(const Unit&, const Batch& cases, const Outcomes& base) const override {
    std::vector<int> broken(cases.size(), -1);
    for (size_t i = 0; i < cases.size(); ++i)
      if (base.has_answer(i)) broken[i] = broken_(cases, i, base.results);
    return broken;
  }

 private:
  Broken broken_;
  Applies applies_;
};

int other_scale(const Batch& cases, size_t index, const Column& results) {
  const uint64_t scale = QuantizedBlock(cases.op()).scale(cases, index);
  return same_result(cases.op(), results.get(index, 0), scale, 0) ? -1 : 0;
}

int saturated(const Batch& cases, size_t index, const Column& results) {
  const GivenBlock block(cases, index, results);
  const FormatFields& scale = cases.op().scale_a.fields();
  if (!block.has_scale() || results.get(index, 0) == scale.encode_greatest(false)) return -1;
  const Exact most = block.scaled(to_exact(greatest_element(cases.op().d.fields())));
  for (int i = 0; i < cases.op().k; ++i) {
    Exact x = to_exact(block.number(i));
    x.negative = false;
    if (compare(x, most) > 0) return 1 + i;
  }
  return -1;
}

bool is_near(const Op& op, const GivenBlock& block, int i) {
  const FormatFields& element = op.d.fields();
  const uint64_t code = block.code(i);
  const Exact x = to_exact(block.number(i));
  if (op.elements_overflow) {
    // A magnitude beyond the greatest element by more than half a step overflows; by half a step it may.
    Number limit = greatest_element(element);
    const int step = limit.exponent + bit_length(limit.significand) - element.precision();
    limit.significand = (limit.significand << (limit.exponent - step + 1)) + 1;
    limit.exponent = step - 1;
    Exact magnitude = x;
    magnitude.negative = false;
    const int beyond = compare(magnitude, block.scaled(to_exact(limit)));
    if (beyond > 0) return !is_number(decode(element, code).cls);
    if (beyond == 0 && !is_number(decode(element, code).cls)) return true;
  }
  if (!is_number(decode(element, code).cls)) return false;
  for (const int step : {-1, 1}) {
    uint64_t next;
    if (!encode_rank(element, rank(element, code) + step, next)) continue;
    // The least integer has no positive counterpart and is no code.
    if (element.integer && next == uint64_t{1} << (element.width - 1)) continue;
    const Exact middle = middle_of(block.element(code), block.element(next));
    if (compare(x, block.scaled(middle)) * step > 0) return false;
  }
  return true;
}

int far_code(const Batch& cases, size_t index, const Column& results) {
  const GivenBlock block(cases, index, results);
  if (!block.has_scale()) return -1;
  for (int i = 0; i < cases.op().k; ++i)
    if (!is_near(cases.op(), block, i)) return 1 + i;
  return -1;
}

int lesser_code(const Batch& cases, size_t index, const Column& results) {
  const GivenBlock block(cases, index, results);
  if (!block.has_scale()) return -1;
  std::vector<int> order(static_cast<size_t>(cases.op().k));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return compare(to_exact(block.number(x)), to_exact(block.number(y))) < 0; });
  for (size_t i = 1; i < order.size(); ++i) {
    const Number x = block.element(block.code(order[i - 1])), y = block.element(block.code(order[i]));
    if (!is_number(x.cls) || !is_number(y.cls)) continue;
    const int codes = compare(to_exact(x), to_exact(y));
    const bool equal = compare(to_exact(block.number(order[i - 1])), to_exact(block.number(order[i]))) == 0;
    if (codes > 0 || (equal && codes != 0)) return 1 + order[i];
  }
  return -1;
}

int nonzero_code_of_zero(const Batch& cases, size_t index, const Column& results) {
  const GivenBlock block(cases, index, results);
  if (!block.is_finite()) return -1;
  for (int i = 0; i < cases.op().k; ++i)
    if (block.number(i).cls == NumberClass::zero && block.element(block.code(i)).cls != NumberClass::zero) return 1 + i;
  return -1;
}

class Requantized final : public Property {
 public:
  Requantized() : Property("requantized", "the numbers of the codes, quantized again, are the same numbers") {}
  bool applies(const Op& op, const Unit&) const override { return is_kept_by(op); }

 protected:
  bool judges_alone() const override { return true; }
  std::vector<int> broken_elements(const Unit& unit, const Batch& cases, const Outcomes& base) const override {
    Batch again = cases;
    std::vector<uint8_t> exact(cases.size(), 0);
    for (size_t i = 0; i < cases.size(); ++i) exact[i] = base.has_answer(i) && write_numbers(cases, i, base, again);
    const Outcomes second = unit.outcomes_of(again);
    std::vector<int> broken(cases.size(), -1);
    for (size_t i = 0; i < cases.size(); ++i) {
      if (!exact[i] || !second.has_answer(i)) continue;
      const GivenBlock first_block(cases, i, base.results), second_block(again, i, second.results);
      if (!second_block.has_scale()) broken[i] = 0;
      for (int e = 0; e < cases.op().k && broken[i] < 0; ++e)
        if (compare(first_block.value(e), second_block.value(e)) != 0) broken[i] = 1 + e;
    }
    return broken;
  }

 private:
  /// Writes the numbers of the codes as the source. False where one is no number of the source's format.
  static bool write_numbers(const Batch& cases, size_t index, const Outcomes& base, Batch& again) {
    const GivenBlock block(cases, index, base.results);
    if (!block.has_scale()) return false;
    for (int i = 0; i < cases.op().k; ++i) {
      const Exact value = block.value(i);
      if (!is_number(value.cls)) return false;
      const std::optional<uint64_t> encoding = encoding_of(cases.op().a.fields(), value);
      if (!encoding) return false;
      again.inputs()[0].set(index, i, *encoding);
    }
    return true;
  }
};

class PowerOfTwoShift final : public Property {
 public:
  PowerOfTwoShift()
      : Property("power_of_two_shift",
                 "twice the numbers have twice the scale and the same codes, away from the ends of the formats") {}
  bool applies(const Op& op, const Unit&) const override { return op.kind == OpKind::quantize && rounds_by_rule(op); }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const FormatFields &from = of.op().a.fields(), &scale = of.op().scale_a.fields(), &via = of.op().via.fields();
    // Ranks are those of scale_rank(); a scale of rank `least` or below counts as an end of the format.
    const uint64_t least = scale.fraction_bits == 0 ? 0 : uint64_t{2} << scale.fraction_bits;
    const uint64_t rank = scale_rank(scale, of.result);
    if (decode(scale, of.result).cls != NumberClass::finite || rank <= least ||
        twice(scale, rank) >= greatest_scale_rank(scale))
      return std::nullopt;
    const std::optional<int> top = double_numbers(from, changed[0].inputs()[0], of.index);
    // Where amax passes through another format (via), that format's ends are away, too.
    return changed_if(top && !(via.width && (*top < via.emin() || *top + 2 > via.emax())));
  }
  bool holds(const Pair& pair) const override {
    const FormatFields& scale = pair.op().scale_a.fields();
    if (pair.element > 0) return pair.after == pair.before;
    return scale_rank(scale, pair.after) == twice(scale, scale_rank(scale, pair.before));
  }

 private:
  /// The rank of twice a scale.
  static uint64_t twice(const FormatFields& scale, uint64_t rank) {
    return rank + (uint64_t{1} << scale.fraction_bits);
  }
};

class TensorShift final : public Property {
 public:
  TensorShift()
      : Property("tensor_shift",
                 "under twice the tensor's scale, twice the numbers have the same scale and the same codes") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::quantize && shifts_with_tensor(op);
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    if (tensor_scale_of(of.cases, of.index).cls == NumberClass::zero) return std::nullopt;
    for (size_t field = 0; field < 2; ++field)
      if (!double_numbers(of.op().input_format(field).fields(), changed[0].inputs()[field], of.index))
        return std::nullopt;
    return Changed{};
  }
};

class PermutedCodes final : public Property {
 public:
  PermutedCodes() : Property("permuted_codes", "the numbers in another order have the same codes in that order") {}
  bool applies(const Op& op, const Unit&) const override { return op.kind == OpKind::quantize && op.k > 1; }

 protected:
  /// The index that the number at `lane` moves to: a rotation, never by a whole block.
  static int moved(const Op& op, int lane) { return (lane + (op.k == 2 ? 1 : op.k / 2 + 1)) % op.k; }
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const FormatFields& from = of.op().a.fields();
    for (int i = 0; i < of.op().k; ++i) {
      const uint64_t encoding = of.cases.inputs()[0].get(of.index, i);
      if (!is_number(decode(from, encoding).cls)) return std::nullopt;
      changed[0].inputs()[0].set(of.index, moved(of.op(), i), encoding);
    }
    return Changed{};
  }
  int changed_element(const Op& op, int element) const override {
    return element == 0 ? 0 : 1 + moved(op, element - 1);
  }
};

}  // namespace

std::vector<Claim> claims_of_quantizing(const Op& op) {
  std::vector<Claim> claims = claims_of({"scale_of_rule", "zero_block", "permuted_codes"});
  const auto claim = [&](bool holds, const char* name) {
    if (holds) claims.push_back({name, ""});
  };
  claim(rounds_by_rule(op), "monotone_codes");
  claim(shifts_with_tensor(op), "tensor_shift");
  // A tie between two powers of two goes to the scale of even code; of the numbers doubled it is the other one.
  const bool ties = op.scale_rule == ScaleRule::nearest && op.scale_a.fields().fraction_bits == 0;
  claim(rounds_by_rule(op) && !ties, "power_of_two_shift");
  claim(rounds_to_nearest(op), "half_step");
  claim(is_kept_by(op), "requantized");
  claim(takes_great_enough_scales(op), "no_saturation");
  return claims;
}

std::unique_ptr<Property> make_scale_of_rule() {
  return std::make_unique<OfOneBlock>("scale_of_rule", "the scale is the one that the op's rule gives", other_scale);
}
std::unique_ptr<Property> make_no_saturation() {
  return std::make_unique<OfOneBlock>(
      "no_saturation",
      "no number is greater than the greatest element times the scale, unless the scale is the greatest one", saturated,
      takes_great_enough_scales);
}
std::unique_ptr<Property> make_half_step() {
  return std::make_unique<OfOneBlock>(
      "half_step",
      "each number errs by at most half a step of its code, under the unit's own scale; a number beyond the greatest "
      "takes it, or overflows where saturate=0 says so",
      far_code, rounds_to_nearest);
}
std::unique_ptr<Property> make_monotone_codes() {
  return std::make_unique<OfOneBlock>("monotone_codes", "of two numbers of a block the greater one has no lesser code",
                                      lesser_code, rounds_by_rule);
}
std::unique_ptr<Property> make_zero_block() {
  return std::make_unique<OfOneBlock>("zero_block", "a zero has the code of a zero, also in a block of zeros",
                                      nonzero_code_of_zero);
}

#define MMAFUZZ_MAKE(name, type) \
  std::unique_ptr<Property> make_##name() { return std::make_unique<type>(); }
MMAFUZZ_MAKE(power_of_two_shift, PowerOfTwoShift)
MMAFUZZ_MAKE(tensor_shift, TensorShift)
MMAFUZZ_MAKE(permuted_codes, PermutedCodes)
MMAFUZZ_MAKE(requantized, Requantized)
#undef MMAFUZZ_MAKE

}  // namespace mmafuzz
