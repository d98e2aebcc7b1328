// One line per parameter. A new member of DotModel gets its line here and is then available everywhere.
#include "oracles/models/parameters.h"

#include <algorithm>

#include "arithmetic/exact_sum.h"
#include "arithmetic/kernel_table.h"
#include "core/unit_name.h"
#include "core/text.h"

namespace mmafuzz {
namespace {

/// The name of a parameter, and how to read and write it.
#define MMAFUZZ_MEMBER(member) \
#member, [](const DotModel& m) { return static_cast<int64_t>(m.member); }, \
      [](DotModel& m, int64_t value) { m.member = static_cast<decltype(m.member)>(value); }

using Words = std::vector<std::string>;

/// The words of a line of the table of kernels (arithmetic/kernels.def.h); `settings` are names, separated by blanks.
struct KernelText {
  const char *name, *settings, *does;

  bool reads(std::string_view parameter) const {
    const Words all = words_of(settings);
    return std::find(all.begin(), all.end(), parameter) != all.end();
  }
};
constexpr KernelText kernel_texts[] = {
#define KERNEL(name, domain, products, additions, c, carried, settings, does) {#name, settings, does},
#include "arithmetic/kernels.def.h"
#undef KERNEL
};

Words kernel_words() {
  Words words;
  for (const KernelText& kernel : kernel_texts) words.push_back(kernel.name);
  return words;
}

using Get = decltype(Parameter::get);
using Set = decltype(Parameter::set);

Parameter of_words(const char* name, Get get, Set set, const char* meaning, Words words) {
  return {.name = name, .meaning = meaning, .words = std::move(words), .get = get, .set = set};
}
Parameter of_numbers(const char* name, Get get, Set set, const char* meaning, int64_t least, int64_t greatest) {
  return {.name = name, .meaning = meaning, .least = least, .greatest = greatest, .get = get, .set = set};
}
Parameter of_nans(const char* name, Get get, Set set, const char* meaning) {
  return {.name = name, .meaning = meaning, .is_nan = true, .get = get, .set = set};
}

// clang-format off
std::vector<Parameter> make_parameters() {
  std::vector<Parameter> all = {
      of_words(MMAFUZZ_MEMBER(kernel), "the arithmetic", kernel_words()),
      of_numbers(MMAFUZZ_MEMBER(k), "products per instruction", 1, max_instruction_k),
      of_numbers(MMAFUZZ_MEMBER(block), "products per fused step", 1, max_instruction_k),
      of_words(MMAFUZZ_MEMBER(order), "which products go together, or first", {"ascending", "descending", "swapped_pairs", "interleaved", "halves_in_turn"}),
      of_numbers(MMAFUZZ_MEMBER(group), "products per scaled group", 1, max_instruction_k),
      of_numbers(MMAFUZZ_MEMBER(fraction_bits), "bits kept below the greatest exponent", 0, 45),
      of_words(MMAFUZZ_MEMBER(zero_rule), "exponent that zero terms read", {"constant", "clamp", "operand"}),
      of_numbers(MMAFUZZ_MEMBER(zero_exponent), "the alignment floor", -1000, 1000),
      of_words(MMAFUZZ_MEMBER(zero_group), "which group counts as zero", {"all_products_zero", "sum_zero"}),
      of_words(MMAFUZZ_MEMBER(product), "exponent of a product", {"unnormalized", "normalized"}),
      of_words(MMAFUZZ_MEMBER(c_exponent), "format that bounds c's exponent", {"d_format", "c_format", "fp32"}),
      of_numbers(MMAFUZZ_MEMBER(integer_bits), "integer bits of the adder, 0: enough", 0, 16),
      of_numbers(MMAFUZZ_MEMBER(output_fraction_bits), "fraction bits of the result", 0, 52),
      of_words(MMAFUZZ_MEMBER(output_rounding), "rounding of the result", {"nearest_even", "toward_zero", "up", "down", "nearest_away", "odd"}),
      of_words(MMAFUZZ_MEMBER(overflow), "a result beyond the greatest number", {"by_rounding", "infinity", "saturate"}),
      of_words(MMAFUZZ_MEMBER(output_via), "rounding in one or two steps", {"direct", "fp32_truncated", "fp32_nearest"}),
      of_words(MMAFUZZ_MEMBER(underflow_sign), "sign of a nonzero sum that rounds to zero", {"kept", "positive"}),
      of_words(MMAFUZZ_MEMBER(zero_sign), "sign of an exactly zero sum", {"positive", "any_negative", "ieee"}),
      of_nans(MMAFUZZ_MEMBER(nan), "encoding of every NaN result that is no operand's"),
      of_words(MMAFUZZ_MEMBER(nan_from), "which operand's NaN an operation gives, made quiet, or nan", {"constant", "a_b_c", "a_c_b", "b_a_c", "b_c_a", "c_a_b", "c_b_a", "signalling_c_a_b", "signalling_c_as_bs"}),
      of_words(MMAFUZZ_MEMBER(special_scope), "where infinities and NaNs are looked for", {"block", "whole_k"}),
      of_words(MMAFUZZ_MEMBER(low_bits), "low bits of a tf32 operand", {"ignored", "nan_payload", "rounded"}),
      of_words(MMAFUZZ_MEMBER(subnormals), "subnormal operands and results", {"kept", "flushed", "flushed_signed", "flushed_of_fp32", "flushed_of_fp16"}),
      of_words(MMAFUZZ_MEMBER(flushed), "which subnormal numbers become zeros", {"both", "operands", "results"}),
      of_words(MMAFUZZ_MEMBER(tininess), "when a result counts as subnormal: as it is rounded or before", {"after", "before"}),
      of_words(MMAFUZZ_MEMBER(zero_operands), "sign that a zero operand reads", {"kept", "positive"}),
      of_words(MMAFUZZ_MEMBER(chain_start), "what the first product of a chain joins", {"positive_zero", "first_product"}),
      of_words(MMAFUZZ_MEMBER(chain_join), "how chains or rounded blocks join c", {"in_turn", "summed_first"}),
      of_words(MMAFUZZ_MEMBER(product_overflow), "a product beyond fp32, or of a tree beyond d", {"none", "infinity", "positive_infinity"}),
      of_words(MMAFUZZ_MEMBER(overflow_rank), "such an infinity beside one of the operands", {"equal", "below_operands"}),
      of_numbers(MMAFUZZ_MEMBER(odd_even), "even and odd products are aligned separately", 0, 1),
      of_words(MMAFUZZ_MEMBER(second_stage), "floors of the second stage", {"floor31", "floor32_then_31"}),
      of_words(MMAFUZZ_MEMBER(c_special), "an infinite or NaN c on CDNA3 fp8", {"propagates", "reads_minus_one"}),
      of_numbers(MMAFUZZ_MEMBER(first_sum), "products that are cut and added among themselves first", 1, max_instruction_k),
      of_numbers(MMAFUZZ_MEMBER(c_guard_bits), "bits kept below c's exponent beyond fraction_bits", 0, 8),
      of_words(MMAFUZZ_MEMBER(cut), "how a term is cut", {"opposed_complement", "floor"}),
      of_words(MMAFUZZ_MEMBER(lost_c), "a negative c that leaves no bit", {"dropped", "floored"}),
      of_nans(MMAFUZZ_MEMBER(invalid_nan), "encoding of what invalid operations give"),
      of_words(MMAFUZZ_MEMBER(nan_of_c), "the result where only c is a NaN", {"replaced", "quieted"}),
      of_words(MMAFUZZ_MEMBER(operand_specials), "infinities and NaNs of a and b", {"kept", "numbers"}),
      of_words(MMAFUZZ_MEMBER(form), "what a step makes of its products' sum s and of c", {"s_plus_c", "s_minus_c", "c_minus_s", "minus_s_minus_c", "negated_s_minus_c", "negated_s_plus_c", "s_alone"}),
  };
  for (Parameter& p : all)  // kernel, k, output_rounding and nan stand in no line: every kernel reads them
    for (size_t i = 0; i < std::size(kernel_texts); ++i)
      if (kernel_texts[i].reads(p.name)) p.kernels.push_back(static_cast<Kernel>(i));
  return all;
}
// clang-format on

#undef MMAFUZZ_MEMBER

/// The values that a parameter takes, for a refusal.
std::string allowed_values(const Parameter& p) {
  if (!p.words.empty()) return values_text(p);
  return p.is_nan ? "a hexadecimal encoding" : std::to_string(p.least) + " to " + std::to_string(p.greatest);
}

bool parse_value(const Parameter& p, std::string_view text, int64_t& value) {
  if (!p.words.empty()) {
    const auto word = std::find(p.words.begin(), p.words.end(), text);
    value = word - p.words.begin();
    return word != p.words.end();
  }
  if (p.is_nan) {  // a negative NaN of fp64 has all 64 bits
    uint64_t bits = 0;
    const bool is_number = parse_number(text, bits, 16);
    value = static_cast<int64_t>(bits);
    return is_number;
  }
  return parse_number(text, value) && value >= p.least && value <= p.greatest;
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all = make_parameters();
  return all;
}

bool only_selects_nans(const Parameter& p) {
  const std::string_view name = p.name;
  return p.is_nan || name == "nan_of_c" || name == "nan_from";
}

const Parameter* find_parameter(std::string_view name) { return entry_named(parameters(), name); }

std::string parameter_text(const Parameter& p, const DotModel& model) {
  const int64_t value = p.get(model);
  if (!p.words.empty()) return p.words[static_cast<size_t>(value)];
  if (!p.is_nan) return std::to_string(value);
  char digits[17];
  const auto end = std::to_chars(digits, digits + 16, static_cast<uint64_t>(value), 16).ptr;
  return std::string(digits, end);
}

bool same_arithmetic(const DotModel& x, const DotModel& y) {
  if (x.kernel != y.kernel) return false;
  // With equal steps, how many an instruction takes does not matter.
  const bool ignores_k = products_per_call(x) == products_per_call(y);
  return std::all_of(parameters().begin(), parameters().end(), [&](const Parameter& p) {
    const bool is_ignored = ignores_k && std::string_view(p.name) == "k";
    return is_ignored || !p.used_by(x.kernel) || p.get(x) == p.get(y);
  });
}

std::string what_kernel_does(std::string_view name) {
  for (const KernelText& kernel : kernel_texts)
    if (name == kernel.name) return kernel.does;
  return "";
}

std::string values_text(const Parameter& p) {
  if (p.words.empty()) return p.is_nan ? "hexadecimal" : std::to_string(p.least) + ".." + std::to_string(p.greatest);
  return joined(p.words, " | ");
}

bool Parameter::used_by(Kernel kernel) const {
  return kernels.empty() || std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

std::string why_no_results_in(const FormatFields& d) {
  // No source says what a matrix unit gives in other formats in place of an infinity or of a negative sum.
  if (d.specials != Specials::ieee || !d.has_sign())
    return "a row's results are of a format with a sign and IEEE 754's infinities";
  return "";
}

std::string contradiction_in(const DotModel& model) {
  const KernelTraits kernel = traits_of(model);
  if (model.a.integer || model.b.integer || model.c.integer) return "a row takes dots of floating-point formats";
  if (const std::string why = why_no_results_in(model.d); !why.empty()) return why;
  if (model.output_fraction_bits > model.d.fraction_bits)
    return "output_fraction_bits is at most " + std::to_string(model.d.fraction_bits) + " here";
  if ((model.nan & ~model.d.container_mask()) || decode(model.d, model.nan).cls != NumberClass::nan)
    return "nan must be the encoding of a NaN of d's format";
  // Known scales have no sign (e8m0), or units ignore it (ue4m3); no source says what a unit makes of a signed scale.
  const auto is_scale = [](const FormatFields& f) { return !f.has_sign() && !f.has_infinity(); };
  if (model.scale_block && (!is_scale(model.scale_a) || !is_scale(model.scale_b)))
    return "a row's scales are of formats without a sign and without infinities";
  if (model.output_via != OutputVia::direct && model.d.fraction_bits >= fp32_fields.fraction_bits)
    return "output_via=" + parameter_text(*find_parameter("output_via"), model) + " needs a result narrower than fp32";
  if (kernel.widens_to_fp16() && model.k % 4 != 0) return "kernel=emulated_fp8 needs a k that is a multiple of 4";
  if (kernel.sums_groups()) {
    if (!model.scale_block) return "kernel=grouped_sum needs an operation with scales";
    if (model.scale_block % model.group != 0)
      return "the products of a group share a scale: group divides " + std::to_string(model.scale_block) + " here";
    // A group's sum is an integer in units of the least product; both times its scales and aligned it must fit.
    const auto bits = [](const FormatFields& f) { return f.emax() + 1 - f.subnormal_bit(); };
    const int scales = model.scale_a.precision() + model.scale_b.precision();
    if (bits(model.a) + bits(model.b) + 6 + scales > 62 ||
        model.a.emax() + model.b.emax() + 10 + model.fraction_bits > 62)
      return "kernel=grouped_sum adds integers of 62 bits; these operands or fraction_bits are too wide";
  }
  const bool sums_exactly = kernel.additions == KernelTraits::Additions::exact;
  if (model.scale_block && !kernel.sums_groups() && !kernel.is_fused_sum() && !sums_exactly)
    return "this kernel knows no scales; grouped_sum, fused_sum, exact_sum and sum_then_add do";
  if (model.scale_block && !kernel.sums_groups() && model.scale_a.fraction_bits + model.scale_b.fraction_bits)
    return "this kernel takes scales that are powers of two";
  if (sums_exactly &&
      (least_bit_of_products(model) < product_accumulator_unit || beyond_products(model) > product_accumulator_most))
    return "this kernel sums exactly between 2^" + std::to_string(product_accumulator_unit) + " and 2^" +
           std::to_string(product_accumulator_most) + ", which these scaled products exceed";
  const bool reads_specials = model.a.specials == Specials::ieee || model.a.has_nan() || model.b.has_nan();
  if (model.operand_specials == OperandSpecials::numbers && !reads_specials)
    return "operand_specials=numbers needs operands that have infinities or NaNs";
  if (model.operand_specials == OperandSpecials::numbers && (model.a.width > 8 || model.b.width > 8))
    return "operand_specials=numbers is known of operands of up to 8 bits";
  // Whether fp16 holds every number of the format.
  const auto is_in_fp16 = [](const FormatFields& f) {
    return f.emax() <= fp16_fields.emax() && f.subnormal_bit() >= fp16_fields.subnormal_bit() &&
           f.fraction_bits <= fp16_fields.fraction_bits;
  };
  if (kernel.widens_to_fp16() &&
      (model.a.width != 8 || model.b.width != 8 || !is_in_fp16(model.a) || !is_in_fp16(model.b)))
    return "kernel=emulated_fp8 needs 8-bit operands that are numbers of fp16, too";
  const bool narrow_products = model.a.precision() + model.b.precision() <= 22;
  if (!narrow_products && (!kernel.steps_are_operations() || kernel.widens_to_fp32()))
    return "this kernel sums products of at most 22 bits; these operands are wider";
  const bool exceeds_fp32_exponents =
      std::max(model.c.exponent_bits, model.d.exponent_bits) > fp32_fields.exponent_bits;
  if (sums_exactly && exceeds_fp32_exponents)
    return "kernel=exact_sum has no room for a c or a d beyond fp32's exponents";
  if (kernel.widens_to_fp32() &&
      (exceeds_fp32_exponents || std::max(model.c.fraction_bits, model.d.fraction_bits) > fp32_fields.fraction_bits))
    return "kernel=fma_then_add sums in fp32, which a wider c or d does not fit";
  if (kernel.c == KernelTraits::Joining::second_stage && model.c_special == CSpecial::reads_minus_one &&
      model.a.width > 8)
    return "c_special=reads_minus_one is known of operands of up to 8 bits";
  if (kernel.c == KernelTraits::Joining::second_stage && model.zero_rule == ZeroRule::clamp)
    return "kernel=two_stage_sum has no floor: zero terms read nothing (zero_rule=constant) or their factors' "
           "exponents";
  if (kernel.cuts_to_odd() && model.zero_rule == ZeroRule::clamp)
    return "kernel=bulk_normalized sums from a zero, which reads zero_exponent: zero_rule=clamp is constant here";
  if (kernel.widens_to_fp16() && model.c_exponent == CExponent::c_format)
    return "kernel=emulated_fp8 adds c last: its sums know d's format and not c's (c_exponent)";
  if (kernel.products == KernelTraits::Products::rounded && model.subnormals == Subnormals::flushed_signed &&
      model.zero_operands == ZeroOperands::positive)
    return "subnormals=flushed_signed keeps the sign of what zero_operands=positive reads as +0";
  if (model.subnormals == Subnormals::flushed_of_fp32 && !kernel.floors()) {
    if (!sums_exactly && kernel.carried != KernelTraits::Carried::each_product)
      return "subnormals=flushed_of_fp32 is known of floored_sum, exact_sum, sum_then_add and fma_chain";
    const auto is_of_fp32 = [](const FormatFields& f) { return f.emin() == fp32_fields.emin(); };
    if (is_of_fp32(model.a) && is_of_fp32(model.b))
      return "subnormals=flushed_of_fp32 needs operands of fewer exponents than fp32's";
    if (!is_of_fp32(model.c) || !is_of_fp32(model.d) || std::min(model.a.emin(), model.b.emin()) < fp32_fields.emin())
      return "subnormals=flushed_of_fp32 needs a c and a d with fp32's exponents, and no wider operands";
  }
  if (model.subnormals == Subnormals::flushed_of_fp16) {
    if (kernel.widens_to_fp32() || !(kernel.steps_are_operations() || kernel.c == KernelTraits::Joining::last))
      return "subnormals=flushed_of_fp16 is known of fma_chain, ieee_tree and sum_then_add";
    const FormatFields* const all[] = {&model.a, &model.b, &model.c, &model.d};
    if (std::none_of(std::begin(all), std::end(all), [](const FormatFields* f) { return *f == fp16_fields; }))
      return "subnormals=flushed_of_fp16 needs an fp16 operand or result";
  }
  const bool flushes_as_arm = model.flushed != FlushedNumbers::both || model.tininess == Tininess::before;
  if (flushes_as_arm && model.subnormals == Subnormals::flushed)
    return "flushed=operands, flushed=results and tininess=before are known where flushed numbers keep their signs";
  if (model.nan_from != NanFrom::constant) {
    for (const FormatFields* f : {&model.a, &model.b, &model.c, &model.d})
      if (f->specials != Specials::ieee) return "nan_from needs formats whose NaNs have payloads as IEEE 754's do";
    if (model.scale_block) return "nan_from is not known of operations with scales";
    if (nan_operand(model.d, model.d, decode(model.d, model.nan), model.nan).is_signalling)
      return "nan_from makes NaNs quiet, and nan is a signalling one";
    if (kernel.widens_to_fp32() && !(model.d == fp32_fields))
      return "nan_from needs d=fp32 where a conversion to d ends the sum: it gives one NaN";
    if (model.nan_from == NanFrom::signalling_c_as_bs && !sums_exactly)
      return "nan_from=signalling_c_as_bs is of a block of products: kernel=sum_then_add";
    if (kernel.products == KernelTraits::Products::rounded &&
        (model.nan_from == NanFrom::a_c_b || model.nan_from == NanFrom::c_b_a))
      return "this kernel has no operation on a, b and c: nan_from=a_c_b is a_b_c here, and c_b_a is b_c_a";
    if (model.overflow_rank == OverflowRank::below_operands)
      return "nan_from says which NaN an operation gives, overflow_rank=below_operands what all operands do";
  }
  if (negates_result(model) && sums_exactly)
    return "kernel=sum_then_add negates its addends: form=negated_... is known of kernel=fma_chain";
  if (negates_c(model) && (!model.c.has_negative_zero() || model.subnormals == Subnormals::flushed))
    return "form=" + parameter_text(*find_parameter("form"), model) + " negates c, which needs zeros of both signs";
  if (model.output_via == OutputVia::fp32_nearest && !kernel.floors())
    return "output_via=fp32_nearest is known of kernel=floored_sum";
  const bool adds_operands = kernel.products == KernelTraits::Products::rounded || kernel.cuts_to_odd() ||
                             (sums_exactly && kernel.c == KernelTraits::Joining::last);
  if (adds_operands && model.overflow == Overflow::saturate)
    return "this kernel adds to c what was rounded before: overflow=saturate is by_rounding or infinity here";
  if (kernel.floors()) {
    if (model.subnormals != Subnormals::kept && model.subnormals != Subnormals::flushed_of_fp32)
      return "kernel=floored_sum takes subnormals=kept or flushed_of_fp32";
    if (model.output_via == OutputVia::fp32_truncated)
      return "kernel=floored_sum takes output_via=direct or fp32_nearest";
    if (std::min({model.a.emin(), model.b.emin(), model.c.emin(), model.d.emin()}) < fp32_fields.emin())
      return "kernel=floored_sum is known of formats with at most fp32's exponents";
    if ((model.invalid_nan & ~model.d.container_mask()) || decode(model.d, model.invalid_nan).cls != NumberClass::nan)
      return "invalid_nan must be the encoding of a NaN of d's format";
    if (model.nan_of_c == NanOfC::quieted && model.c.specials != Specials::ieee)
      return "nan_of_c=quieted needs a c whose NaNs have payloads as IEEE 754's do";
    if (model.block % model.first_sum != 0) return "block is a multiple of first_sum";
    if (model.first_sum > 1 && model.cut != Cut::floor) return "first_sum is known with cut=floor";
    if (model.lost_c == LostC::floored && model.cut != Cut::floor) return "lost_c=floored is known with cut=floor";
    if (model.zero_rule == ZeroRule::operand)
      return "kernel=floored_sum takes zero_rule=constant or clamp: a zero product has no exponent";
    if (model.output_via == OutputVia::fp32_nearest && model.output_fraction_bits != model.d.fraction_bits)
      return "output_via=fp32_nearest gives results of all the bits of d";
  }
  if (model.scale_block && model.k % model.scale_block != 0 && model.scale_block % model.k != 0)
    return "k is a multiple or a divisor of " + std::to_string(model.scale_block) + ", the products of one scale, here";
  if (model.order == ProductOrder::halves_in_turn && kernel.carried == KernelTraits::Carried::each_product)
    return "order=halves_in_turn deals blocks, and kernel=fma_chain has none";
  if (model.order == ProductOrder::interleaved && kernel.carried == KernelTraits::Carried::each_product)
    return "order=interleaved deals products to blocks, and kernel=fma_chain has none";
  if (model.order == ProductOrder::halves_in_turn && model.k % (2 * model.block) != 0)
    return "order=halves_in_turn needs a k that is a multiple of two blocks";
  if (model.order == ProductOrder::interleaved && model.k % model.block != 0)
    return "order=interleaved needs a k that is a multiple of block";
  if (model.order != ProductOrder::ascending && model.scale_block)
    return "only order=ascending is known for an operation with scales";
  return "";
}

Result<DotModel> with_overrides(DotModel model, std::string_view overrides) {
  const Kernel kernel_of_row = model.kernel;
  std::vector<const Parameter*> named;
  for (const auto& [name, text] : settings_of(overrides)) {
    const Parameter* p = find_parameter(name);
    if (!p) return invalid("unknown parameter '" + name + "'; known: " + names_in_table(parameters(), " "));
    int64_t value = 0;
    if (!parse_value(*p, text, value))
      return invalid("parameter " + name + " takes " + allowed_values(*p) + ", not '" + text + "'");
    p->set(model, value);
    named.push_back(p);
  }
  for (const Parameter* p : named)
    if (!p->used_by(model.kernel))
      return invalid(std::string("parameter ") + p->name + " has no effect on kernel " +
                     parameter_text(*find_parameter("kernel"), model));
  if (model.kernel != kernel_of_row) {  // values that were for the row's kernel alone mean nothing for another
    DotModel plain;
    plain.output_fraction_bits = model.d.fraction_bits;
    for (const Parameter& p : parameters())
      if (!p.used_by(model.kernel)) p.set(model, p.get(plain));
  }
  if (const std::string why = contradiction_in(model); !why.empty()) return invalid(why);
  return model;
}

}  // namespace mmafuzz
