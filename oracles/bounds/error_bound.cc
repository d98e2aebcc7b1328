#include "oracles/bounds/error_bound.h"

#include <cmath>
#include <limits>

#include "oracles/bounds/bound_steps.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "core/unit_name.h"

namespace mmafuzz {
namespace {

using namespace bounds;

Result<bool> takes_op(const Op& op) {
  const FormatFields& d = op.d.fields();
  if (op.kind != OpKind::dot) return declined("error bounds are of dots");
  if (op.flush_to_zero) return declined("there is no error bound where subnormals are flushed");
  if (d.integer || !d.has_sign() || d.subnormals != SubnormalRule::gradual || op.rounding == Rounding::stochastic)
    return declined("there is no error bound for results in " + op.d.name() + " so rounded");
  return true;
}

}  // namespace

ErrorBound::ErrorBound(const Op& op) : exact(exact::sum_precision_of(op)), bound(bound_precision) {}

double ErrorBound::ratio(const Format& d, uint64_t result) const {
  if (has_no_bound) return 0;
  exact::Mpfr value(64), error(mpfr_get_prec(exact.get()));
  exact::set_from_encoding(value.get(), d, result);
  if (!mpfr_number_p(value.get())) return may_overflow ? 0 : std::numeric_limits<double>::infinity();
  mpfr_sub(error.get(), value.get(), exact.get(), MPFR_RNDA);
  mpfr_abs(error.get(), error.get(), MPFR_RNDN);
  if (mpfr_zero_p(error.get())) return 0;
  mpfr_div(error.get(), error.get(), bound.get(), MPFR_RNDN);
  return mpfr_get_d(error.get(), MPFR_RNDA);
}

bool ErrorBound::admits(const Format& d, uint64_t result) const { return ratio(d, result) <= 1; }

Result<ErrorBounds> ErrorBounds::of_model(const Op& op, const DotModel& m) {
  const Result<bool> taken = takes_op(op);
  if (!taken) return taken.refusal();
  if (m.integer_bits && find_parameter("integer_bits")->used_by(m.kernel))
    return declined("a sum that wraps has no error bound");
  if (m.low_bits == LowBits::rounded && (m.a.ignored_low_bits || m.b.ignored_low_bits || m.c.ignored_low_bits))
    return declined("operands that are rounded on the way in have no error bound");
  if (traits_of(m).is_fused_sum() && m.scale_block && (m.scale_a.fraction_bits || m.scale_b.fraction_bits))
    return declined("a fused sum whose scales lose their fractions has no error bound");
  if (traits_of(m).sums_groups() && m.scale_block % m.group)
    return declined("groups of several scales have no error bound");
  if (m.scale_block && m.k % m.scale_block && m.scale_block % m.k)
    return declined("instructions that cut a scale's products have no error bound");
  const auto has_zero = [](const FormatFields& f) { return decode(f, 0).cls == NumberClass::zero; };
  if (op.k % m.k && !has_zero(m.a) && !has_zero(m.b))
    return declined("instructions that are padded with numbers other than zero have no error bound");
  return ErrorBounds(op, m);
}

Result<ErrorBounds> ErrorBounds::of_reference(const Op& op, std::string_view name) {
  const Result<bool> taken = takes_op(op);
  if (!taken) return taken.refusal();
  DotModel m = custom_model(op);
  m.output_rounding = op.rounding;
  m.overflow = op.rounding_rule().overflow;
  m.k = op.k;
  const bool is_exact = name == "exact" || name == "exact:mpfr" || name == "exact:bigint",
             is_chain = name == "ieee:fma";
  m.kernel = is_exact ? Kernel::exact_sum : is_chain ? Kernel::fma_chain : Kernel::ieee_tree;
  m.block = is_exact ? m.k : 1;
  ErrorBounds bounds(op, m);
  bounds.sums_by_halves_ = name == "ieee:pairwise";
  if (!is_exact && !is_chain && !bounds.sums_by_halves_ && name != "ieee:serial")
    return unknown("'" + std::string(name) + "' is no reference of dots");
  return bounds;
}

Result<ErrorBounds> ErrorBounds::of_unit(const Op& op, const Unit& unit) {
  const Result<ErrorBounds> own = unit.model() ? of_model(op, *unit.model()) : of_reference(op, unit.name());
  if (own || unit.model()) return own;
  if (const std::optional<DotModel> claimed = row_of(unit)) return of_model(op, *claimed);
  for (const Claim& claim : unit.claims())
    if (claim.property == "equals_model")
      if (const Result<ErrorBounds> bounds = of_reference(op, claim.detail)) return bounds;
  return own;
}

bool ErrorBounds::has_bound_for(const Op& op, const DotOperands& in) {
  const auto special = [](const Format& f, const uint64_t* encodings, int count) {
    for (int i = 0; i < count; ++i)
      if (!f.fields().integer && is_special(f.fields(), encodings[i])) return true;
    return false;
  };
  if (special(op.a, in.a, in.k) || special(op.b, in.b, in.k) || special(op.c, &in.c, 1)) return false;
  return !op.has_scales() ||
         (!special(op.scale_a, in.scale_a, op.scales()) && !special(op.scale_b, in.scale_b, op.scales()));
}

}  // namespace mmafuzz
