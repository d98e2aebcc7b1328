// The kernels of arithmetic/ in the words of docs/semantics.md, whose sections the comments cite; D with a number is a
// point of docs/units.md on which sources differ. Clarity over speed: each step builds its terms, says which exponent
// each of them reads, adds exactly and rounds once.
#include "oracles/models/slow_twin.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <span>
#include <vector>

#include "arithmetic/kernel_table.h"
#include "oracles/models/slow_twin_numbers.h"

namespace mmafuzz {
namespace slow_twin {
namespace {

using Terms = std::vector<Term>;

constexpr int no_exponent = INT_MIN;  ///< of a term that takes no part in the search for the greatest exponent
const Term one{.kind = Kind::finite, .magnitude = 1, .exponent = 0};

// ---- Reading operands -----------------------------------------------------------------------------------------------

/// Makes a subnormal operand a zero where the row flushes it: +0 (section 6), or of its sign (x86's, section 8). What
/// becomes fp32 first is judged as an fp32 number.
void flush_input(const DotModel& model, Term& t, const FormatFields& stored) {
  const bool as_fp32 = model.kernel == Kernel::fma_then_add || model.subnormals == Subnormals::flushed_of_fp32;
  const FormatFields& f = as_fp32 ? fp32_fields : stored;
  if (model.subnormals == Subnormals::kept || t.kind != Kind::finite || leading_exponent(t) >= f.emin()) return;
  // Arm ARM, FPUnpack: FZ16 decides for 16 bits, FZ (AH = 0) and FIZ for others; FZ with AH = 1 for no operand.
  if (model.flushed == FlushedNumbers::results) return;
  if (model.subnormals == Subnormals::flushed_of_fp16 && !(stored == fp16_fields)) return;
  const bool negative = model.subnormals != Subnormals::flushed && t.negative;
  t = Term{};
  t.negative = negative;
}

/// Whether zeros in a, b and an instruction's c lose their sign.
bool reads_zeros_positive(const DotModel& model) {
  return model.kernel == Kernel::ieee_tree && model.zero_operands == ZeroOperands::positive;
}

/// An operand stored in one format that enters the adder as another: FP8 becomes fp16 on the emulated path (section 4).
Term read_operand(const DotModel& model, const FormatFields& stored, const FormatFields& used, uint64_t encoding) {
  const bool has_specials = model.operand_specials == OperandSpecials::kept;
  Term t = decode(stored, encoding, model.low_bits, has_specials ? AllOnes::special : AllOnes::number);
  if (t.is_zero() && reads_zeros_positive(model)) t.negative = false;
  flush_input(model, t, used);
  set_exponent(t, least_exponent(used));
  return t;
}

Term read_scale(const FormatFields& f, uint64_t encoding) {
  Term t = decode(f, encoding, LowBits::ignored);
  set_exponent(t, least_exponent(f));
  return t;
}

/// The c of a step: the dot's own, or the result of the step before.
struct Accumulator {
  uint64_t encoding;
  const FormatFields* format;
  AllOnes all_ones = AllOnes::special;
};

int least_c_exponent(const DotModel& model, const Accumulator& c) {
  switch (model.c_exponent) {
    case CExponent::d_format: return model.d.emin();
    case CExponent::c_format: return least_exponent(*c.format);
    case CExponent::fp32: break;
  }
  return fp32_fields.emin();
}

Term read_accumulator(const DotModel& model, const Accumulator& c) {
  Term t = decode(*c.format, c.encoding, model.low_bits, c.all_ones);
  flush_input(model, t, *c.format);
  set_exponent(t, least_c_exponent(model, c));
  return t;
}

/// What one instruction reads: products without scales, and the product of the two scales of each.
struct Instruction {
  Terms products;
  Terms scales;  ///< empty when the operation has none

  Term scaled(size_t i) const { return scales.empty() ? products[i] : multiply(products[i], scales[i]); }
  Terms all_scaled() const {
    Terms result;
    for (size_t i = 0; i < products.size(); ++i) result.push_back(scaled(i));
    return result;
  }
};

/// Consecutive terms in blocks of `size`, but at least 1; the last block may have fewer.
std::vector<std::span<const Term>> blocks_of(std::span<const Term> terms, int size) {
  const size_t block = static_cast<size_t>(std::max(1, size));
  std::vector<std::span<const Term>> blocks;
  for (size_t first = 0; first < terms.size(); first += block)
    blocks.push_back(terms.subspan(first, std::min(block, terms.size() - first)));
  return blocks;
}

/// The indices of an instruction's products, in the order in which its adders take them.
std::vector<int> order_of_products(const DotModel& model) {
  std::vector<int> indices;
  switch (model.order) {
    case ProductOrder::ascending:
      for (int i = 0; i < model.k; ++i) indices.push_back(i);
      break;
    case ProductOrder::descending:
      for (int i = model.k - 1; i >= 0; --i) indices.push_back(i);
      break;
    case ProductOrder::swapped_pairs:
      for (int i = 0; i < model.k; i += 2) {
        if (i + 1 < model.k) indices.push_back(i + 1);
        indices.push_back(i);
      }
      break;
    case ProductOrder::halves_in_turn:  // rocjitsu, mma_exec.h: of a wave's 32 lanes each half holds 8 of 16 products
      for (int i = 0; i < model.k / 2; i += model.block)
        for (int half = 0; half < 2; ++half)
          for (int j = 0; j < model.block; ++j) indices.push_back(half * (model.k / 2) + i + j);
      break;
    case ProductOrder::interleaved: {
      const int blocks = model.k / model.block;
      for (int j = 0; j < blocks; ++j)
        for (int i = j; i < model.k; i += blocks) indices.push_back(i);
      break;
    }
  }
  return indices;
}

/// The operands of the instruction whose products begin at index `first`; beyond the dot's k, +0 and scales of 1.
Instruction read_instruction(const DotModel& model, const DotOperands& operands, int first) {
  const bool emulated = model.kernel == Kernel::emulated_fp8;
  const FormatFields& used_a = emulated ? fp16_fields : model.a;
  const FormatFields& used_b = emulated ? fp16_fields : model.b;
  const int scale_count = model.scale_block ? (operands.k + model.scale_block - 1) / model.scale_block : 0;
  Instruction instruction;
  for (const int index : order_of_products(model)) {
    const int i = first + index;
    const bool is_padding = i >= operands.k;
    instruction.products.push_back(multiply(read_operand(model, model.a, used_a, is_padding ? 0 : operands.a[i]),
                                            read_operand(model, model.b, used_b, is_padding ? 0 : operands.b[i])));
    if (model.scale_block == 0) continue;
    const int s = i / model.scale_block;
    instruction.scales.push_back(s < scale_count ? multiply(read_scale(model.scale_a, operands.scale_a[s]),
                                                            read_scale(model.scale_b, operands.scale_b[s]))
                                                 : one);
  }
  return instruction;
}

// ---- Results --------------------------------------------------------------------------------------------------------

bool is_zero_encoding(const FormatFields& f, uint64_t encoding) {
  return (encoding & ~f.in_container(f.sign_bit())) == 0;
}

/// Whether results in d may be flushed. Arm ARM, FPRoundBase: FIZ flushes no result, FZ16 those of 16 bits.
bool may_flush_results(const DotModel& model) {
  const bool flushes_fp16_alone = model.subnormals == Subnormals::flushed_of_fp16;
  return model.flushed != FlushedNumbers::operands && (!flushes_fp16_alone || model.d == fp16_fields);
}

/// Makes a subnormal result a zero where the row flushes it. It is judged after rounding and keeps its sign (section
/// 6), unless underflow_sign=positive.
uint64_t flush_result(const DotModel& model, uint64_t encoding) {
  if (!may_flush_results(model)) return encoding;
  const Term t = decode(model.d, encoding, LowBits::ignored);
  const bool subnormal = t.kind == Kind::finite && leading_exponent(t) < model.d.emin();
  const bool negative = t.negative && model.underflow_sign == UnderflowSign::kept;
  return model.subnormals != Subnormals::kept && subnormal ? model.d.encode_zero(negative) : encoding;
}

/// Whether a value is below the normal range after rounding as if there were no least exponent (IEEE 754-2019, 7.5):
/// what x86 flushes.
bool is_tiny(const FormatFields& f, int fraction_bits, const Dyadic& v, Rounding mode, Tininess judged) {
  int exponent = leading_exponent(v);
  if (judged == Tininess::before) return exponent < f.emin();  // Arm ARM, FPRoundBase with AH = 0
  const cpp_int units = round_shifted(abs(v.units), exponent - fraction_bits - v.weight, v.units < 0, mode);
  if ((units >> (fraction_bits + 1)) != 0) ++exponent;
  return exponent < f.emin();
}

/// Fraction bits of a result: d's for exact and two-stage sums; the others may have fewer (e8m13).
int result_bits(const DotModel& model) {
  const bool all_bits =
      traits_of(model).additions == KernelTraits::Additions::exact || model.kernel == Kernel::two_stage_sum;
  return all_bits ? model.d.fraction_bits : model.output_fraction_bits;
}

uint64_t round_output(const DotModel& model, const Dyadic& sum) {
  return round_to(model.d, result_bits(model), sum, model.output_rounding, model.overflow).encoding;
}

/// Whether a result is flushed by its exact value (is_tiny) and not by its rounded encoding: so x86 does, also in FP8's
/// instructions, whose results are fp32 numbers.
bool flushes_by_value(const DotModel& model) {
  return may_flush_results(model) && model.subnormals != Subnormals::kept && model.subnormals != Subnormals::flushed;
}

/// The rounded result of a nonzero sum under the rule for subnormals.
uint64_t flush_sum(const DotModel& model, const Dyadic& sum, uint64_t rounded) {
  const bool by_value = flushes_by_value(model);
  if (by_value && is_tiny(model.d, result_bits(model), sum, model.output_rounding, model.tininess))
    return model.d.encode_zero(sum.units < 0 && model.underflow_sign == UnderflowSign::kept);
  return flush_result(model, rounded);
}

// ---- Specials -------------------------------------------------------------------------------------------------------

/// The result that infinities and NaNs decide, if there are any (section 1.1).
std::optional<uint64_t> special_result(const DotModel& model, std::span<const Term> products, const Term& c) {
  bool nan = c.kind == Kind::nan, infinity[2] = {false, false};
  if (c.kind == Kind::infinity) infinity[c.negative] = true;
  for (const Term& p : products) {
    nan |= p.kind == Kind::nan;
    if (p.kind == Kind::infinity) infinity[p.negative] = true;
  }
  if (nan || (infinity[0] && infinity[1])) return model.nan;
  if (infinity[0] || infinity[1]) return model.d.encode_infinity(infinity[1]);
  return std::nullopt;
}

/// The encoding in d of a NaN, with its quiet bit set.
uint64_t quiet(const FormatFields& d, const NanBits& nan) {
  const uint64_t payload = static_cast<uint64_t>((nan.payload << d.fraction_bits) >> 64);
  return d.encode_infinity(nan.negative) | d.in_container(payload | uint64_t{1} << (d.fraction_bits - 1));
}

/// The NaN of an operation on a, b and c (section 8): FPProcessNaNs3 and FPMulAdd of the Arm ARM, or the first one
/// there is in the row's order.
uint64_t nan_of_operands(const DotModel& model, const SomeNan& a, const SomeNan& b, const SomeNan& c,
                         bool product_is_invalid) {
  std::vector<const SomeNan*> order;
  switch (model.nan_from) {
    case NanFrom::constant: return model.nan;
    case NanFrom::a_b_c: order = {&a, &b, &c}; break;
    case NanFrom::a_c_b: order = {&a, &c, &b}; break;
    case NanFrom::b_a_c: order = {&b, &a, &c}; break;
    case NanFrom::b_c_a: order = {&b, &c, &a}; break;
    case NanFrom::c_b_a: order = {&c, &b, &a}; break;
    case NanFrom::c_a_b: order = {&c, &a, &b}; break;
    case NanFrom::signalling_c_a_b:
    case NanFrom::signalling_c_as_bs:  // of an addition the same: FPProcessNaNs
      for (const auto* x : {&c, &a, &b})
        if (*x && !(*x)->quiet) return quiet(model.d, **x);
      if (product_is_invalid) return model.nan;
      order = {&c, &a, &b};
      break;
  }
  for (const auto* x : order)
    if (*x) return quiet(model.d, **x);
  return model.nan;
}

bool any_special(std::span<const Term> terms) {
  return std::any_of(terms.begin(), terms.end(), [](const Term& t) { return t.special(); });
}

/// Turns products that overflow into infinities where the unit does so (D19). Where those rank below the operands' own
/// specials and there are such, returns the result that the operands alone decide (D20, D20b).
std::optional<uint64_t> overflow_products(const DotModel& model, Terms& products, const Term& c, auto overflows) {
  Terms replaced = products;
  bool any = false;
  for (Term& p : replaced) {
    if (p.kind != Kind::finite || !overflows(p)) continue;
    any = true;
    p.kind = Kind::infinity;
    if (model.product_overflow == ProductOverflow::positive_infinity) p.negative = false;
  }
  if (any && model.overflow_rank == OverflowRank::below_operands)
    if (const auto special = special_result(model, products, c)) return special;
  if (model.product_overflow != ProductOverflow::none) products = replaced;
  return std::nullopt;
}

// ---- Fused and grouped sums (sections 1 to 3) ----------------------------------------------------------------------

int exponent_read_by_zero(const DotModel& model, const Term& zero) {
  switch (model.zero_rule) {
    case ZeroRule::constant: return model.zero_exponent;
    case ZeroRule::clamp: return no_exponent;
    case ZeroRule::operand: break;
  }
  return zero.exponent;
}

int exponent_read_by_product(const DotModel& model, const Term& product) {
  if (product.is_zero()) return exponent_read_by_zero(model, product);
  return model.product == ProductRule::normalized ? leading_exponent(product) : product.exponent;
}

int exponent_read_by_c(const DotModel& model, const Term& c) {
  return c.is_zero() ? exponent_read_by_zero(model, c) : c.exponent;
}

/// An accumulator of integer_bits bits above the point wraps in magnitude and keeps its sign (D16).
Dyadic wrap(const DotModel& model, Dyadic sum, int greatest_exponent) {
  if (model.integer_bits == 0) return sum;
  const cpp_int modulus = cpp_int(1) << (model.integer_bits + greatest_exponent - sum.weight);
  const cpp_int magnitude = abs(sum.units) % modulus;
  sum.units = sum.units < 0 ? cpp_int(-magnitude) : magnitude;
  return sum;
}

uint64_t round_fused_sum(const DotModel& model, Dyadic sum, bool zero_negative) {
  if (sum.units == 0) return model.d.encode_zero(zero_negative);
  const bool negative = sum.units < 0;
  if (model.output_via == OutputVia::fp32_truncated)  // D8; range is judged only by the second rounding
    sum = truncated_at(sum, std::max(leading_exponent(sum), fp32_fields.emin()) - fp32_fields.fraction_bits);
  const uint64_t result = sum.units == 0 ? model.d.encode_zero(negative) : round_output(model, sum);
  if (is_zero_encoding(model.d, result))
    return model.d.encode_zero(negative && model.underflow_sign == UnderflowSign::kept);  // D5
  return flush_sum(model, sum, result);
}

/// Terms whose exponents are those that each of them reads are aligned to the greatest, truncated, added, rounded once.
uint64_t truncated_sum(const DotModel& model, const Terms& terms, bool zero_negative) {
  int greatest = model.zero_rule == ZeroRule::clamp ? model.zero_exponent : no_exponent;
  for (const Term& t : terms) greatest = std::max(greatest, t.exponent);
  Dyadic sum{0, greatest - model.fraction_bits};
  for (const Term& t : terms) sum.units += truncated_at(value_of(t), sum.weight).units;
  return round_fused_sum(model, wrap(model, sum, greatest), zero_negative);
}

/// The sign of an exactly zero sum: +0 (MMA-Sim), -0 if any term is negative (Valpey et al., Algorithm 1), or IEEE
/// 754-2019, 6.3: terms of one sign keep it, otherwise + except rounding down.
bool zero_sum_is_negative(const DotModel& model, std::span<const Term> products, const Term& c) {
  size_t negatives = c.negative;
  for (const Term& p : products) negatives += p.negative;
  switch (model.zero_sign) {
    case ZeroSign::positive: return false;
    case ZeroSign::any_negative: return negatives > 0;
    case ZeroSign::ieee: break;
  }
  return negatives == products.size() + 1 || (negatives > 0 && model.output_rounding == Rounding::down);
}

uint64_t fused_step(const DotModel& model, std::span<const Term> products, Term c) {
  if (const auto special = special_result(model, products, c)) return *special;
  const bool zero_negative = zero_sum_is_negative(model, products, c);
  Terms terms(products.begin(), products.end());
  for (Term& t : terms) t.exponent = exponent_read_by_product(model, t);
  c.exponent = exponent_read_by_c(model, c);
  terms.push_back(c);
  return truncated_sum(model, terms, zero_negative);
}

/// One group: the exact sum of its products times its scales, aligned by the scales' exponents alone (section 3).
Term group_term(const DotModel& model, std::span<const Term> products, const Term& scale) {
  Dyadic sum;
  bool all_zero = true;
  for (const Term& p : products) {
    if (p.is_zero()) continue;
    all_zero = false;
    sum = sum + value_of(p);
  }
  Term group;
  group.exponent = scale.exponent;
  const bool counts_as_zero = model.zero_group == ZeroGroup::all_products_zero ? all_zero : sum.units == 0;  // D28
  if (scale.is_zero() || counts_as_zero) group.exponent = exponent_read_by_zero(model, group);
  if (scale.is_zero() || sum.units == 0) return group;
  group.kind = Kind::finite;
  group.negative = sum.units < 0;
  group.magnitude = abs(sum.units) * scale.magnitude;
  group.weight = sum.weight + scale.weight;
  return group;
}

uint64_t grouped_sum(const DotModel& model, const Instruction& instruction, const Accumulator& accumulator) {
  const Terms scaled = instruction.all_scaled();
  Term c = read_accumulator(model, accumulator);
  if (const auto special = special_result(model, scaled, c)) return *special;
  const bool zero_negative = zero_sum_is_negative(model, scaled, c);
  Terms terms;
  size_t first = 0;
  for (const auto products : blocks_of(instruction.products, model.group)) {
    terms.push_back(group_term(model, products, instruction.scales.empty() ? one : instruction.scales[first]));
    first += products.size();
  }
  c.exponent = exponent_read_by_c(model, c);
  terms.push_back(c);
  return truncated_sum(model, terms, zero_negative);
}

// ---- RDNA3 and RDNA4 (section 13), from AMD's emulator: rocjitsu's gfx11_dot2.h and gfx12_dot.h --------------------

/// The result that infinities and NaNs decide: a factor's NaN, then inf * 0 or opposite infinities among the products,
/// then c's NaN made quiet, then infinities.
std::optional<uint64_t> ranked_special(const DotModel& model, std::span<const Term> products, const Term& c) {
  bool factor_nan = false, invalid = false, infinity[2] = {false, false};
  for (const Term& p : products) {
    (p.is_invalid ? invalid : factor_nan) |= p.kind == Kind::nan;
    if (p.kind == Kind::infinity) infinity[p.negative] = true;
  }
  if (factor_nan) return model.nan;
  if (invalid || (infinity[0] && infinity[1])) return model.invalid_nan;
  if (c.kind == Kind::nan) {
    if (model.nan_of_c == NanOfC::replaced) return model.nan;
    return quiet(model.d, *c.nan);
  }
  if (c.kind == Kind::infinity) infinity[c.negative] = true;
  if (infinity[0] && infinity[1]) return model.invalid_nan;
  if (infinity[0] || infinity[1]) return model.d.encode_infinity(infinity[1]);
  return std::nullopt;
}

/// A sum rounded to f once. Underflow is gradual or, where the row flushes, a sum that is tiny after rounding with an
/// unbounded exponent is zero; a zero is +0 unless underflow_sign=kept; overflow as the row says.
uint64_t round_floored_sum(const DotModel& model, const FormatFields& f, int fraction_bits, const Dyadic& total,
                           Rounding mode) {
  if (total.units == 0) return 0;
  const bool flushes = model.subnormals == Subnormals::flushed_of_fp32 && f.emin() == fp32_fields.emin();
  const bool keeps_sign = model.underflow_sign == UnderflowSign::kept;
  if (flushes && is_tiny(f, fraction_bits, total, mode, Tininess::after))
    return f.encode_zero(keeps_sign && total.units < 0);
  const uint64_t bits = round_to(f, fraction_bits, total, mode, model.overflow).encoding;
  return is_zero_encoding(f, bits) && !keeps_sign ? f.encode_zero(false) : bits;
}

uint64_t floored_sum(const DotModel& model, const Instruction& instruction, const Accumulator& accumulator) {
  const int below = model.fraction_bits;  // bits between a term's exponent and its grid
  const int grid_of_zero = model.zero_rule == ZeroRule::constant ? model.zero_exponent - below : no_exponent;
  // A grid is the exponent of the last bit that is kept; products that are zero have none.
  const auto grid_of = [&](std::span<const Term> group) {
    int grid = no_exponent;
    for (const Term& p : group)
      if (!p.is_zero()) grid = std::max(grid, p.exponent - below);
    return grid;
  };
  Accumulator stored = accumulator;
  for (const auto products : blocks_of(instruction.products, model.block)) {
    const auto groups = blocks_of(products, model.first_sum);
    const Term c = read_accumulator(model, stored);
    if (const auto special = ranked_special(model, products, c)) {
      stored = {*special, &model.d};
      continue;
    }
    int grid = model.zero_rule == ZeroRule::clamp ? model.zero_exponent - below : no_exponent;
    for (const auto group : groups) {
      const int group_grid = grid_of(group);
      grid = std::max(grid, group_grid == no_exponent ? grid_of_zero : group_grid);
    }
    if (!c.is_zero()) grid = std::max(grid, c.exponent - model.c_guard_bits - below);
    if (c.is_zero()) grid = std::max(grid, grid_of_zero);

    Dyadic total{0, grid};
    if (model.cut == Cut::opposed_complement) {
      for (const Term& t : products) {
        const cpp_int magnitude = abs(truncated_at(value_of(t), grid).units);
        total.units += t.negative != c.negative ? cpp_int(-magnitude - 1) : magnitude;
      }
      total.units += abs(truncated_at(value_of(c), grid).units);
      if (c.negative) total.units = -total.units;
    } else {
      const bool vanishes = truncated_at(value_of(c), grid).units == 0;
      const bool counts = !vanishes || model.lost_c == LostC::floored || grid <= model.d.emin();
      if (counts) total.units += floored_at(value_of(c), grid).units;
      for (const auto group : groups) {
        const int group_grid = grid_of(group);
        if (group_grid == no_exponent) continue;
        Dyadic sum{0, model.first_sum == 1 ? grid : group_grid};
        for (const Term& p : group) sum.units += floored_at(value_of(p), sum.weight).units;
        total.units += floored_at(sum, grid).units;
      }
    }
    uint64_t result;
    if (model.output_via == OutputVia::fp32_nearest) {
      const uint64_t fp32 =
          round_floored_sum(model, fp32_fields, fp32_fields.fraction_bits, total, Rounding::nearest_even);
      const Term t = decode(fp32_fields, fp32, LowBits::ignored);
      result =
          t.kind == Kind::infinity ? model.d.encode_infinity(t.negative)
          : t.is_zero()
              ? model.d.encode_zero(t.negative)
              : round_to(model.d, model.d.fraction_bits, value_of(t), model.output_rounding, model.overflow).encoding;
    } else {
      result = round_floored_sum(model, model.d, model.output_fraction_bits, total, model.output_rounding);
    }
    stored = {result, &model.d};
  }
  return stored.encoding;
}

// ---- IEEE operations (CDNA2, fma chains, the add of the emulated path) ----------------------------------------------

Rounded ieee_round(const DotModel& model, const Term& exact, Rounding mode) {
  switch (exact.kind) {
    case Kind::nan: return {model.nan, false};
    case Kind::infinity: return {model.d.encode_infinity(exact.negative), false};
    case Kind::zero: return {model.d.encode_zero(exact.negative), false};
    case Kind::finite: break;
  }
  if (flushes_by_value(model) && is_tiny(model.d, model.d.fraction_bits, value_of(exact), mode, model.tininess))
    return {model.d.encode_zero(exact.negative), false};
  const Overflow overflow = model.kernel == Kernel::ieee_tree ? model.overflow : Overflow::by_rounding;
  return round_to(model.d, model.d.fraction_bits, value_of(exact), mode, overflow);
}

/// A result as the next operation unpacks it.
Term read_result(const DotModel& model, uint64_t encoding) {
  Term t = decode(model.d, encoding, LowBits::ignored);
  flush_input(model, t, model.d);
  return t;
}

/// The rounded result of an operation with that exact value; a, b and c are its operands' NaNs, where there are any.
uint64_t operation(const DotModel& model, const Term& exact, const SomeNan& a, const SomeNan& b, const SomeNan& c) {
  if (exact.kind == Kind::nan) return nan_of_operands(model, a, b, c, exact.is_invalid);
  return flush_result(model, ieee_round(model, exact, model.output_rounding).encoding);
}

uint64_t tree_step(const DotModel& model, std::span<const Term> block, const Term& c) {
  Terms level(block.begin(), block.end());
  const auto overflows = [&](const Term& p) { return ieee_round(model, p, model.output_rounding).overflows; };
  if (const auto decided = overflow_products(model, level, c, overflows)) return *decided;
  for (Term& p : level) p = read_result(model, operation(model, p, p.factor[0], p.factor[1], {}));
  while (level.size() > 1) {
    Terms next;
    for (size_t i = 0; i < level.size(); i += 2) {
      if (i + 1 == level.size()) {
        next.push_back(level[i]);
        continue;
      }
      const Term &left = level[i], &right = level[i + 1], pair = exact_add(left, right, model.output_rounding);
      next.push_back(read_result(model, operation(model, pair, left.nan, right.nan, {})));
    }
    level = next;
  }
  return operation(model, exact_add(c, level[0], model.output_rounding), level[0].nan, {}, c.nan);
}

/// m8n8k4 of fp16 without a tensor core, from the machine code (ptxas 13.0.88, sm_90; sm_80 to sm_120 alike).
/// HADD2.F32 -RZ, x widens every operand. fp32 d: FFMA R, a0, b0, RZ; three more FFMAs; FADD c, R. fp16 d: FMUL a0, b0;
/// FFMA a1, b1, R; the same for products 2 and 3; FADD c, R01; FADD R, R23; F2FP.F16.F32. None has .FTZ or a rounding.
uint64_t fma_then_add(const DotModel& model, const Instruction& instruction, const Accumulator& accumulator) {
  const Terms products = instruction.all_scaled();
  Term c = read_accumulator(model, accumulator);
  DotModel fp32 = model;
  fp32.d = fp32_fields;
  fp32.nan = 0x7fffffff;  // "NaN payloads are not preserved" (PTX ISA); every NaN is replaced below
  const bool hands_nans_on = model.nan_from != NanFrom::constant;
  if (hands_nans_on) fp32.nan = model.nan;
  // operation() in fp32. a, b and c are the NaNs of an FMA; of an addition a is that of the first source, b of the
  // second.
  const auto fp32_operation = [&](const Term& exact, const SomeNan& a, const SomeNan& b, const SomeNan& c) {
    if (hands_nans_on && exact.kind == Kind::nan)
      return decode(fp32_fields, nan_of_operands(fp32, a, b, c, exact.is_invalid), LowBits::ignored);
    const uint64_t rounded = ieee_round(fp32, exact, model.output_rounding).encoding;
    return decode(fp32_fields, flush_result(fp32, rounded), LowBits::ignored);
  };
  const auto sum_of = [&](const Term& x, const Term& y) {
    return fp32_operation(exact_add(x, y, model.output_rounding), x.nan, y.nan, {});
  };
  Terms chains;
  for (const auto block : blocks_of(products, model.block)) {
    Term chain;  // RZ, which is +0
    for (const Term& product : block) {
      const bool is_multiplication = &product == &block[0] && model.chain_start == ChainStart::first_product;
      Term exact = is_multiplication ? product : exact_add(product, chain, model.output_rounding);
      exact.is_invalid = product.is_invalid;
      chain = fp32_operation(exact, product.factor[0], product.factor[1], is_multiplication ? SomeNan{} : chain.nan);
    }
    chains.push_back(chain);
  }
  // AMX (Intel SDM, TDPBF16PS): tmpf32 is the sum of both chains, and srcdest is c plus tmpf32.
  if (model.chain_join == ChainJoin::summed_first) {
    Term sum = chains[0];
    for (size_t i = 1; i < chains.size(); ++i) sum = sum_of(sum, chains[i]);
    chains = {sum};
  }
  for (const Term& chain : chains) c = sum_of(c, chain);
  if (hands_nans_on && c.nan) return quiet(fp32_fields, *c.nan);
  DotModel last = model;  // the conversion does not flush
  last.subnormals = Subnormals::kept;
  return ieee_round(last, c, model.output_rounding).encoding;
}

/// The factor, 1 or -1, of the products' sum, of c and of the result (Power ISA 3.1, 7.6.3: the PN, NP and NN forms). A
/// NaN's own bits stay as they are.
struct Signs {
  int sum, c, result;
};
Signs signs_of(Form form) {
  switch (form) {
    case Form::s_minus_c: return {1, -1, 1};
    case Form::c_minus_s: return {-1, 1, 1};
    case Form::minus_s_minus_c: return {-1, -1, 1};
    case Form::negated_s_minus_c: return {1, -1, -1};
    case Form::negated_s_plus_c: return {1, 1, -1};
    case Form::s_plus_c:
    case Form::s_alone: break;
  }
  return {1, 1, 1};
}
Term with_sign(Term t, int sign) {
  t.negative = t.negative != (sign < 0);
  return t;
}

uint64_t fma_chain(const DotModel& model, const Instruction& instruction, const Accumulator& accumulator) {
  Term c = read_accumulator(model, accumulator);
  uint64_t result = 0;
  for (const Term& product : instruction.all_scaled()) {
    if (model.form == Form::s_alone) {  // Power ISA 3.1, xvf32ger: bfp_MULTIPLY
      result = operation(model, product, product.factor[0], product.factor[1], {});
      continue;
    }
    const Signs signs = signs_of(model.form);
    Term sum = exact_add(with_sign(c, signs.c), with_sign(product, signs.sum), model.output_rounding);
    sum.is_invalid = product.is_invalid;
    result = operation(model, sum, product.factor[0], product.factor[1], c.nan);
    if (signs.result < 0 && decode(model.d, result, LowBits::ignored).kind != Kind::nan)
      result ^= model.d.in_container(model.d.sign_bit());
    c = read_accumulator(model, {result, &model.d});
  }
  return result;
}

// ---- CDNA1 and CDNA3 (sections 5 and 7) -----------------------------------------------------------------------------

uint64_t exact_step(const DotModel& model, std::span<const Term> products, const Term& c) {
  if (const auto special = special_result(model, products, c)) return *special;
  Dyadic sum = value_of(c);
  for (const Term& p : products) sum = sum + value_of(p);
  if (sum.units == 0) return model.d.encode_zero(zero_sum_is_negative(model, products, c));
  return flush_sum(model, sum, round_output(model, sum));
}

/// A term that is no NaN, rounded to d.
uint64_t finished(const DotModel& model, const Term& t) {
  if (t.kind == Kind::infinity) return model.d.encode_infinity(t.negative);
  if (t.is_zero()) return model.d.encode_zero(t.negative);
  return flush_sum(model, value_of(t), round_output(model, value_of(t)));
}

/// Section 14, from Arm's FPDot and FPAdd, from Power ISA 3.1's xvf16ger2pp and from the texts of FP8's instructions on
/// x86: the products' exact sum is rounded, then its sum with c. Of Arm's FMMLA of fp16 the rounded sums are added to
/// each other, rounded, before that.
uint64_t sum_then_add(const DotModel& model, const Instruction& instruction, const Accumulator& accumulator) {
  const auto sum_of = [&](std::span<const Term> products) {
    Term none;  // a zero in place of c, of the first product's sign: it decides no sign
    none.negative = products[0].negative;
    if (const auto special = special_result(model, products, none)) {
      if (decode(model.d, *special, LowBits::ignored).kind != Kind::nan) return *special;
      // Arm ARM, FPDot: FPProcessNaNs4 of op1_a, op1_b, op2_a, op2_b.
      if (model.nan_from == NanFrom::signalling_c_as_bs) {
        for (const bool only_signalling : {true, false})
          for (const size_t operand : {0, 1})
            for (const Term& p : products)
              if (const SomeNan& nan = p.factor[operand]; nan && !(only_signalling && nan->quiet))
                return quiet(model.d, *nan);
        return model.nan;
      }
      // QEMU's xvf16ger2: the last product, then FMAs of those before it.
      Term t = none;
      uint64_t result = model.nan;
      for (size_t i = products.size(); i-- > 0;) {
        const Term& p = products[i];
        const SomeNan of_sum = t.nan;
        t = exact_add(t, p, model.output_rounding);
        if (t.kind != Kind::nan) continue;
        result = nan_of_operands(model, p.factor[0], p.factor[1], of_sum, p.is_invalid);
        t = decode(model.d, result, LowBits::ignored);
      }
      return result;
    }
    Dyadic exact;
    for (const Term& p : products) exact = exact + value_of(p);
    return exact.units == 0 ? model.d.encode_zero(zero_sum_is_negative(model, products, none))
                            : finished(model, term_of(exact));
  };
  const auto plus = [&](const Term& x, uint64_t sum, int sign = 1) {
    const Term y = with_sign(read_result(model, sum), sign), total = exact_add(x, y, model.output_rounding);
    return total.kind == Kind::nan ? nan_of_operands(model, y.nan, {}, x.nan, false) : finished(model, total);
  };
  const Terms all = instruction.all_scaled();
  std::vector<uint64_t> sums;
  for (const auto products : blocks_of(all, model.block)) sums.push_back(sum_of(products));
  if (model.chain_join == ChainJoin::summed_first) {
    uint64_t total = sums[0];
    for (size_t i = 1; i < sums.size(); ++i) total = plus(read_result(model, total), sums[i]);
    sums = {total};
  }
  if (model.form == Form::s_alone) return sums.back();  // xvf16ger2 writes the rounded sum
  // xvf16ger2pn, np and nn: a rounded sum and the accumulator are negated before they are added.
  const Signs signs = signs_of(model.form);
  Accumulator c = accumulator;
  for (const uint64_t sum : sums) c = {plus(with_sign(read_accumulator(model, c), signs.c), sum, signs.sum), &model.d};
  return c.encoding;
}

/// Section 15, from the functional description of RVBNA: the products' magnitudes, extended to the right, are shifted
/// by their distance from the greatest reference exponent, and a bit that was shifted out sets the last one that stays
/// ("jam"). A sum of zero is +0. Sums too small for a normal result follow the description's prose.
uint64_t bulk_normalized(const DotModel& model, const Instruction& instruction, Accumulator accumulator) {
  const Terms all = instruction.all_scaled();
  for (const auto products : blocks_of(all, model.block)) {
    uint64_t dot = model.d.encode_zero(false);
    if (const auto special = special_result(model, products, Term{})) {
      dot = *special;
    } else {
      int reference = exponent_read_by_zero(model, Term{});
      for (const Term& p : products) reference = std::max(reference, exponent_read_by_product(model, p));
      const int last_bit = reference - model.fraction_bits;
      cpp_int accumulated = 0;
      for (const Term& p : products) {
        if (p.is_zero()) continue;
        const Dyadic exact = value_of(p), kept = truncated_at(exact, last_bit);
        cpp_int magnitude = abs(kept.units);
        const bool jam = (exact + Dyadic{cpp_int(-kept.units), kept.weight}).units != 0;
        if (jam && magnitude % 2 == 0) ++magnitude;
        accumulated += p.negative ? cpp_int(-magnitude) : magnitude;
      }
      if (accumulated != 0) dot = round_output(model, {accumulated, last_bit});
    }
    const Term c = read_accumulator(model, accumulator);
    const Term total = exact_add(c, decode(model.d, dot, LowBits::ignored), model.output_rounding);
    accumulator = {total.kind == Kind::nan ? model.nan : finished(model, total), &model.d};
  }
  return accumulator.encoding;
}

/// The sum of products truncated at fraction_bits below their own greatest exponent, which is no_exponent if every
/// product reads none.
struct ProductSum {
  Dyadic value;
  int exponent = no_exponent;
};

ProductSum sum_products(const DotModel& model, std::span<const Term> products, size_t first, size_t stride) {
  ProductSum sum;
  for (size_t i = first; i < products.size(); i += stride) {
    if (products[i].is_zero() && model.zero_rule != ZeroRule::operand) continue;  // D32
    sum.exponent = std::max(sum.exponent, exponent_read_by_product(model, products[i]));
  }
  if (sum.exponent == no_exponent) return sum;
  sum.value.weight = sum.exponent - model.fraction_bits;
  for (size_t i = first; i < products.size(); i += stride)
    sum.value.units += truncated_at(value_of(products[i]), sum.value.weight).units;
  return sum;
}

/// Even and odd products aligned apart, then floored together (section 7).
ProductSum sum_even_and_odd(const DotModel& model, std::span<const Term> products) {
  const ProductSum even = sum_products(model, products, 0, 2), odd = sum_products(model, products, 1, 2);
  ProductSum sum{{}, std::max(even.exponent, odd.exponent)};
  if (sum.exponent == no_exponent) return sum;
  const int weight = sum.exponent - model.fraction_bits;
  sum.value = floored_at(even.value, weight) + floored_at(odd.value, weight);
  return sum;
}

/// c joins the products; the sum is brought to the exponent that its fp32 encoding will have, and floored 31 bits
/// below. From MMA-Sim's paper (TR-FDPA, GTR-FDPA) and the results of MMA-Sim 2.1.1 on chosen inputs: with 2^-150, a
/// tie, products of 2^-153 to 2^-157 round it up, and 2^-158 does not, alone and beside c = 2^-126; a normal sum keeps
/// 31 bits of its own (D21).
Dyadic join_c(const DotModel& model, const ProductSum& products, Term c) {
  // The paper words it for 24 bits of products and c: 25, 31 and 32 are 1, 7 and 8 more.
  const int f = model.fraction_bits, greatest = std::max(products.exponent, c.exponent);
  const bool too_small = model.odd_even && c.exponent < greatest - (f + 1);
  const Dyadic c_part = too_small ? Dyadic{} : floored_at(value_of(c), greatest - f);
  if (model.second_stage == SecondStage::floor31) return floored_at(products.value, greatest - (f + 7)) + c_part;
  Dyadic sum = floored_at(products.value, greatest - (f + 8)) + c_part;
  if (sum.units == 0) return sum;
  const int exponent_of_encoding = std::max(leading_exponent(sum), model.d.emin());
  return floored_at(sum, exponent_of_encoding - (f + 7));
}

uint64_t two_stage_step(const DotModel& model, std::span<const Term> block, Term c) {
  Terms products(block.begin(), block.end());
  const auto overflows = [](const Term& p) { return leading_exponent(p) >= 128; };
  if (model.product_overflow != ProductOverflow::none)
    if (const auto decided = overflow_products(model, products, c, overflows)) return *decided;
  const bool c_may_be_dropped = model.c_special == CSpecial::reads_minus_one && c.special() && !any_special(products);
  if (!c_may_be_dropped)
    if (const auto special = special_result(model, products, c)) return *special;
  const ProductSum sum = model.odd_even ? sum_even_and_odd(model, products) : sum_products(model, products, 0, 1);
  if (c_may_be_dropped) {  // D31
    if (-1 >= std::max(sum.exponent, -1) - (model.fraction_bits + 1)) return *special_result(model, products, c);
    c = Term{};
  }
  const Dyadic total = join_c(model, sum, c);
  return total.units == 0 ? model.d.encode_zero(false) : flush_sum(model, total, round_output(model, total));
}

// ---- From blocks to the whole dot -----------------------------------------------------------------------------------

/// What the instruction's operands and c decide before any block is computed (D12, D12b).
std::optional<uint64_t> screen_whole_k(const DotModel& model, std::span<const Term> products, const Accumulator& c) {
  const bool c_is_left_to_block =
      model.kernel == Kernel::two_stage_sum && model.c_special == CSpecial::reads_minus_one && !any_special(products);
  return special_result(model, products, c_is_left_to_block ? Term{} : read_accumulator(model, c));
}

/// Runs `step` for each block in index order; the result of a block is the c of the next.
uint64_t chain_blocks(const DotModel& model, std::span<const Term> products, Accumulator c, auto step) {
  const bool screen_once = model.special_scope == SpecialScope::whole_k;
  if (screen_once)
    if (const auto special = screen_whole_k(model, products, c)) return *special;
  for (const auto block : blocks_of(products, model.block))
    c = {step(model, block, read_accumulator(model, c)), &model.d, screen_once ? AllOnes::number : AllOnes::special};
  return c.encoding;
}

/// FP8 on sm_90 and sm_100 mma.sync: two fp16 instructions over i mod 4 in {0,1}, then {2,3}; c joins last (section 4).
uint64_t emulated_fp8(const DotModel& model, const Instruction& instruction, const Accumulator& c) {
  const Terms products = instruction.all_scaled();
  Accumulator sum{model.d.encode_zero(false), &model.d};
  for (size_t pair = 0; pair < 2; ++pair) {
    Terms half;
    for (size_t i = 0; i < products.size(); ++i)
      if (i % 4 / 2 == pair) half.push_back(products[i]);
    sum.encoding = chain_blocks(model, half, sum, fused_step);
  }
  const Rounding mode = Rounding::nearest_even;
  const Term total = exact_add(read_result(model, sum.encoding), read_accumulator(model, c), mode);
  return ieee_round(model, total, mode).encoding;
}

/// MMA-Sim 2.1.1 reads -0 as +0 in a, b and the instruction's c; a block's result of -0 stays -0 for the next block.
Accumulator initial_c(const DotModel& model, Accumulator c) {
  if (reads_zeros_positive(model) && decode(*c.format, c.encoding, model.low_bits).is_zero())
    c.encoding = c.format->encode_zero(false);
  return c;
}

// Every kernel is a function of the name that it has in the table; these four run step by step over blocks.
template <auto step>
uint64_t by_blocks(const DotModel& model, const Instruction& instruction, const Accumulator& c) {
  return chain_blocks(model, instruction.all_scaled(), c, step);
}
constexpr auto fused_sum = by_blocks<fused_step>, exact_sum = by_blocks<exact_step>, ieee_tree = by_blocks<tree_step>,
               two_stage_sum = by_blocks<two_stage_step>;

uint64_t run_instruction(const DotModel& model, const Instruction& instruction, const Accumulator& c) {
  switch (model.kernel) {
#define KERNEL(name, ...) \
  case Kernel::name:      \
    return name(model, instruction, c);
#include "arithmetic/kernels.def.h"
#undef KERNEL
  }
  return model.nan;
}

}  // namespace
}  // namespace slow_twin

uint64_t slow_twin_dot(const DotModel& model, const DotOperands& operands) {
  using namespace slow_twin;
  Accumulator c{operands.c, &model.c};
  int first = 0;
  do {
    c = {run_instruction(model, read_instruction(model, operands, first), initial_c(model, c)), &model.d};
    first += model.k;
  } while (first < operands.k);
  return c.encoding;
}

}  // namespace mmafuzz
