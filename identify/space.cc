#include "identify/space.h"

#include <algorithm>
#include <tuple>

#include "arithmetic/evaluate_dot.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

/// The products that each block of an instruction adds, whatever their order in it.
std::vector<std::vector<int>> blocks_of(const DotModel& m) {
  std::vector<std::vector<int>> blocks;
  for (int i = 0; i < m.k; ++i) {
    if (i % m.block == 0) blocks.emplace_back();
    blocks.back().push_back(product_at(m, i));
  }
  for (std::vector<int>& block : blocks) std::sort(block.begin(), block.end());
  return blocks;
}

/// Whether a block's sum does not depend on the order of its products.
bool sums_without_order(const DotModel& m, NanPolicy nan) {
  if (m.nan_from != NanFrom::constant && nan == NanPolicy::exact) return false;
  const auto reads = [&](const char* parameter) { return find_parameter(parameter)->used_by(m.kernel); };
  return traits_of(m).adds_blocks_at_once() && !(reads("odd_even") && m.odd_even) &&
         !(reads("first_sum") && m.first_sum > 1);
}

bool is_called(const Parameter& p, std::string_view name) { return name == p.name; }

size_t index_of(const Parameter& p) { return static_cast<size_t>(&p - parameters().data()); }

/// Copies the parameters that the kernel of `from` reads, except NaNs, to a row of other formats.
DotModel transplanted(const DotModel& from, DotModel to) {
  const int k = to.k;
  for (const Parameter& p : parameters())
    if (p.used_by(from.kernel) && !p.is_nan) p.set(to, p.get(from));
  if (to.output_fraction_bits > to.d.fraction_bits || from.output_fraction_bits == from.d.fraction_bits)
    to.output_fraction_bits = to.d.fraction_bits;
  if (to.scale_block && to.k % to.scale_block && to.scale_block % to.k) to.k = k;
  return to;
}

}  // namespace

std::optional<DotModel> with_value(DotModel model, const Parameter& parameter, int64_t value) {
  parameter.set(model, value);
  if (!contradiction_in(model).empty()) return std::nullopt;
  return model;
}

HypothesisSpace::HypothesisSpace(const Op& op) : op_(op) {
  const DotModel plain = custom_model(op);
  const size_t kernel_count = find_parameter("kernel")->words.size();
  parameters_.resize(kernel_count);
  for (size_t i = 0; i < kernel_count; ++i) {
    DotModel m = plain;
    m.kernel = static_cast<Kernel>(i);
    if (traits_of(m).widens_to_fp16()) m.k = max_instruction_k;
    if (!contradiction_in(m).empty()) continue;
    kernels_.push_back(m.kernel);
    for (const Parameter& p : parameters())
      if (!is_called(p, "kernel") && p.used_by(m.kernel)) parameters_[i].push_back(&p);
  }
  for (const Parameter& p : parameters()) {
    std::vector<int64_t>& values = values_.emplace_back();
    int64_t least = p.least, greatest = p.greatest;
    if (!p.words.empty()) greatest = static_cast<int64_t>(p.words.size()) - 1;
    if (p.is_nan) least = greatest = static_cast<int64_t>(plain.nan);
    if (is_called(p, "output_fraction_bits")) greatest = op.d.fields().fraction_bits;
    if (is_called(p, "zero_exponent")) {
      // A floor below every term has no effect; one above every term by more than the adder's bits loses all.
      least = std::max<int64_t>(least, least_exponent(plain) - 1);
      greatest = std::min<int64_t>(greatest, 260 + find_parameter("fraction_bits")->greatest);
    }
    if (is_called(p, "low_bits") && !plain.a.ignored_low_bits && !plain.b.ignored_low_bits && !plain.c.ignored_low_bits)
      greatest = least;
    if (is_called(p, "output_via") && plain.d.fraction_bits >= 23) greatest = least;
    if (is_called(p, "order") && op.has_scales()) greatest = least;
    for (int64_t v = least; v <= greatest; ++v) values.push_back(v);
  }
}

const std::vector<int64_t>& HypothesisSpace::values(const Parameter& parameter) const {
  return values_[index_of(parameter)];
}

void HypothesisSpace::add_nan(uint64_t encoding) {
  const int64_t value = static_cast<int64_t>(encoding);
  for (const Parameter& p : parameters()) {
    std::vector<int64_t>& values = values_[index_of(p)];
    if (p.is_nan && std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
}

int HypothesisSpace::least_exponent(const DotModel& m) const {
  const auto least_of = [](const FormatFields& f) { return f.emin() - f.fraction_bits; };
  int least = least_of(op_.a.fields()) + least_of(op_.b.fields());
  if (op_.has_scales()) least += op_.scale_a.fields().emin() + op_.scale_b.fields().emin() - 8;
  const int of_c = std::max(least_of(op_.c.fields()), std::min({m.d.emin(), m.c.emin(), -126}));
  return std::min(least, of_c - m.c_guard_bits);
}

bool HypothesisSpace::are_alike(const DotModel& x, const DotModel& y) const {
  const std::vector<const Parameter*>& all = parameters_of(x.kernel);
  return std::all_of(all.begin(), all.end(), [&](const Parameter* p) { return p->get(x) == p->get(y); });
}

std::vector<DotModel> HypothesisSpace::starts(Kernel kernel) const {
  DotModel plain = custom_model(op_);
  plain.kernel = kernel;
  plain.fraction_bits = 24;
  plain.zero_exponent = least_exponent(plain);
  if (traits_of(kernel).widens_to_fp16()) plain.k = std::max(4, plain.k / 4 * 4);
  std::vector<DotModel> all;
  const auto offer = [&](const DotModel& m) {
    const auto same = [&](const DotModel& x) { return are_alike(x, m); };
    if (contradiction_in(m).empty() && std::none_of(all.begin(), all.end(), same)) all.push_back(m);
  };
  // Rows of the op's own formats come first, of these the ones that the op fills.
  for (const int rank : {0, 1, 2})
    for (const ModelRow& row : model_rows()) {
      const bool has_formats = row.op.a == op_.a && row.op.b == op_.b && row.op.c == op_.c && row.op.d == op_.d;
      if (row.model.kernel != kernel || rank != (!has_formats ? 2 : row.op.k == op_.k ? 0 : 1)) continue;
      DotModel m = transplanted(row.model, plain);
      if (has_formats) m.nan = row.model.nan;
      if (has_formats && row.model.invalid_nan) m.invalid_nan = row.model.invalid_nan;
      offer(m);
    }
  offer(plain);
  return all;
}

int64_t HypothesisSpace::draw_value(const Parameter& parameter, CounterRng& rng) const {
  const std::vector<int64_t>& all = values(parameter);
  return all[rng.below(static_cast<uint32_t>(all.size()))];
}

DotModel HypothesisSpace::draw_row(Kernel kernel, CounterRng& rng) const {
  DotModel m = starts(kernel).back();
  for (const Parameter* p : parameters_of(kernel))
    if (const std::optional<DotModel> changed = with_value(m, *p, draw_value(*p, rng))) m = *changed;
  return m;
}

std::string HypothesisSpace::why_equal(const DotModel& m, const Parameter& p, int64_t value) const {
  const std::optional<DotModel> other = with_value(m, p, value);
  if (!other) return "";
  const auto steps = [&](const DotModel& x) {  // products of a step, which the end of the op may cut short
    return std::min({x.block, x.k, op_.k});
  };
  const KernelTraits traits = traits_of(m);
  if (is_called(p, "block") && m.k <= op_.k && steps(m) == std::min(m.k, op_.k) && steps(*other) == steps(m))
    return "an instruction has no more than " + std::to_string(m.k) + " products";
  if (is_called(p, "k") && products_per_call(m) == products_per_call(*other) && op_.k % m.k == 0 && op_.k % value == 0)
    return "blocks are chained the same way within an instruction and between two";
  const auto has_order_of_other = [&] {
    for (int i = 0; i < m.k; ++i)
      if (product_at(m, i) != product_at(*other, i)) return false;
    return true;
  };
  if (is_called(p, "order") && has_order_of_other()) return "the products of an instruction stand in the same order";
  if (is_called(p, "order") && sums_without_order(m, op_.nan) && blocks_of(m) == blocks_of(*other))
    return "the same products meet in every block";
  if (is_called(p, "chain_join") && m.k <= m.block) return "an instruction has one chain or block";
  const bool one_step = op_.k <= m.k && m.k <= m.block && traits.is_fused_sum();
  if (is_called(p, "special_scope") && one_step) return "the op's products make one block";
  // Where +0 reads an exponent below every term, zero sums are +0 and all is one block, more zero products change
  // nothing.
  const bool zeros_change_nothing = m.zero_rule != ZeroRule::operand && m.zero_exponent <= least_exponent(m) &&
                                    m.zero_sign == ZeroSign::positive && !m.scale_block;
  if (is_called(p, "k") && traits.is_fused_sum() && zeros_change_nothing && op_.k <= std::min<int64_t>(m.k, value) &&
      std::max<int64_t>(m.k, value) <= m.block && m.order == ProductOrder::ascending)
    return "the op's products make one block, and zeros change nothing";
  if (is_called(p, "integer_bits") && !traits.sums_groups()) {
    // In units of 2^(greatest exponent), products are below 4 and c is below 2 (docs/semantics.md 1.5).
    const int64_t greatest_sum = 4 * int64_t{std::min(m.block, m.k)} + 2;
    const auto enough = [&](int64_t bits) { return bits == 0 || int64_t{1} << bits >= greatest_sum; };
    if (enough(m.integer_bits) && enough(value)) return "no sum of a block needs more";
  }
  if (is_called(p, "c_exponent")) {
    const int least[] = {m.d.emin(), m.c.emin(), fp32_fields.emin()};  // in the order of CExponent
    const bool are_equal = least[static_cast<size_t>(p.get(m))] == least[static_cast<size_t>(value)];
    if (are_equal && (m.c == m.d || m.d.emin() == m.c.emin())) return "the formats' least exponents are the same";
  }
  if (only_selects_nans(p) && op_.nan == NanPolicy::any) return "the op takes any NaN for any";
  // A sum has an a and a c, a product an a and a b.
  const bool has_fmas = traits.carried == KernelTraits::Carried::each_product || steps(m) > 1;
  const auto ranks = [](NanFrom rule) {
    int place[3];
    for (int i = 0; i < 3; ++i) place[operand_at(rule, i)] = i;
    return std::tuple(rule == NanFrom::constant, signalling_first(rule), rule == NanFrom::signalling_c_as_bs,
                      place[0] < place[1], place[0] < place[2]);
  };
  if (is_called(p, "nan_from") && !has_fmas && ranks(m.nan_from) == ranks(other->nan_from))
    return "b and c never meet in one operation";
  if ((is_called(p, "flushed") || is_called(p, "tininess")) && m.subnormals == Subnormals::kept)
    return "no number is flushed";
  if (is_called(p, "tininess") && !flushes_results(m, m.d)) return "no result is flushed";
  if (is_called(p, "tininess") && (m.output_rounding == Rounding::odd || m.output_rounding == Rounding::toward_zero))
    return "what is below the least normal number does not round to it";
  if (is_called(p, "zero_exponent") && m.zero_rule == ZeroRule::operand)
    return "zero terms read the exponents of their factors";
  // With opposed_complement, a zero of the other sign takes a unit off the sum, too, and the floor sets this unit.
  const bool units_matter = traits.floors() && m.cut == Cut::opposed_complement;
  if (is_called(p, "zero_exponent") && !units_matter && std::max<int64_t>(m.zero_exponent, value) <= least_exponent(m))
    return "no term has an exponent below " + std::to_string(least_exponent(m));
  const bool reaches_128 = op_.a.fields().emax() + op_.b.fields().emax() + 2 > 128;
  if ((is_called(p, "product_overflow") || is_called(p, "overflow_rank")) && !reaches_128 && m.d.width == 32)
    return "no product of these formats reaches 2^128";
  // A tree rounds its products: they overflow whatever product_overflow says.
  if (is_called(p, "overflow_rank") && !traits.steps_are_operations() && m.product_overflow == ProductOverflow::none)
    return "products make no infinities here";
  return "";
}

std::pair<Op, DotModel> random_point(uint64_t seed, uint64_t number) {
  CounterRng rng(seed, number);
  const ModelRow& row = model_rows()[rng.below(static_cast<uint32_t>(model_rows().size()))];
  const HypothesisSpace space(row.op);
  const Kernel kernel = space.kernels()[rng.below(static_cast<uint32_t>(space.kernels().size()))];
  return {row.op, space.draw_row(kernel, rng)};
}

std::string value_text(const Parameter& p, int64_t value) {
  DotModel m;
  p.set(m, value);
  return parameter_text(p, m);
}

std::string values_as_ranges(const Parameter& p, std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  std::string text;
  for (size_t i = 0; i < values.size();) {
    size_t end = i;
    while (p.words.empty() && !p.is_nan && end + 1 < values.size() && values[end + 1] == values[end] + 1) ++end;
    text += (text.empty() ? "" : ", ") + value_text(p, values[i]);
    if (end > i) text += (end == i + 1 ? ", " : "..") + value_text(p, values[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace mmafuzz
