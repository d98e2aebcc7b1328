// Conversions and scalar operations: the exact result (MPFR), its neighbours in the destination format, the decision.
#include <fmt/core.h>

#include "oracles/exact/mpfr_reference.h"
#include "triage/explain/explain.h"
#include "triage/explain/number_text.h"

namespace mmafuzz {
namespace {

/// Where x lies against the midpoint of its neighbours: negative below, 0 on it, positive above. `is_truncated`: x is
/// the exact result without a nonzero rest. `position` receives the share of the gap that lies below x.
int side_of_midpoint(const Op& op, mpfr_srcptr x, uint64_t lower, uint64_t upper, bool is_truncated, double& position) {
  exact::Mpfr low(64), high(64), middle(exact::sum_precision), offset(exact::sum_precision), gap(exact::sum_precision);
  exact::set_from_encoding(low.get(), op.d, lower);
  exact::set_from_encoding(high.get(), op.d, upper);
  mpfr_sub(gap.get(), high.get(), low.get(), MPFR_RNDN);
  mpfr_sub(offset.get(), x, low.get(), MPFR_RNDN);
  mpfr_div_2ui(middle.get(), gap.get(), 1, MPFR_RNDN);
  const int side = mpfr_cmp(offset.get(), middle.get());
  mpfr_div(offset.get(), offset.get(), gap.get(), MPFR_RNDN);
  position = mpfr_get_d(offset.get(), MPFR_RNDN);
  // The rest of a truncated x lies away from zero.
  return side == 0 && is_truncated ? (mpfr_signbit(x) ? -1 : 1) : side;
}

}  // namespace

ExplainedRounding explain_rounding(const Batch& single, std::string& exact_value) {
  const Op& op = single.op();
  const bool is_conversion = op.kind == OpKind::convert;
  uint64_t operands[3] = {};
  single.inputs()[0].unpack(0, operands);
  ExplainedRounding out;
  for (int i = 0; i < single.inputs()[0].count(); ++i) out.operands.push_back(explained_number(op.a, operands[i]));

  exact::Mpfr x(is_conversion ? 64 : exact::scalar_precision_of(op));
  bool is_truncated = false;
  if (is_conversion) exact::set_from_encoding(x.get(), op.a, operands[0]);
  else is_truncated = exact::mpfr_scalar_value(op, operands, x.get());
  exact_value = exact::decimal_text(x.get(), 25) + (is_truncated ? "..." : "");

  const exact::MpfrRounded reference =
      is_conversion ? exact::mpfr_convert(op, operands[0]) : exact::mpfr_scalar(op, operands);
  const ExplainedNumber wanted = explained_number(op.d, reference.encoding);
  out.reference =
      fmt::format("{}  flags {:02x} ({})", wanted.to_string(), reference.flags, flags_text(reference.flags));
  if (!mpfr_number_p(x.get())) {
    out.exact = wanted;
    out.decision = mpfr_nan_p(x.get()) ? "the result is no number" : "the result is infinite";
    return out;
  }
  RoundingRule down, up;
  down.rounding = Rounding::down;
  up.rounding = Rounding::up;
  const uint64_t lower = exact::round_mpfr(op.d, x.get(), down, is_truncated).encoding;
  const uint64_t upper = exact::round_mpfr(op.d, x.get(), up, is_truncated).encoding;
  out.lower = explained_number(op.d, lower);
  out.upper = explained_number(op.d, upper);
  exact::Mpfr rounded(64);
  exact::set_from_encoding(rounded.get(), op.d, lower);
  if (mpfr_equal_p(rounded.get(), x.get()) && !is_truncated) {
    out.exact = mpfr_zero_p(x.get()) ? wanted : out.lower;
    out.decision = wanted.hex == out.exact->hex
                       ? "exact"
                       : "a number of the format, but the op flushes or saturates: " + wanted.hex;
    return out;
  }
  std::string where;
  if (lower == upper || out.lower.decimal.empty() || out.upper.decimal.empty()) {
    where = "beyond the finite numbers of the format";
  } else if (op.rounding == Rounding::odd) {
    where = "between two numbers, one of which has an odd last bit";
  } else if (op.rounding == Rounding::stochastic) {
    where = "random bits decide";
  } else {
    const int side = side_of_midpoint(op, x.get(), lower, upper, is_truncated, out.position);
    where = side < 0 ? "below the midpoint" : side > 0 ? "above the midpoint" : "on the midpoint";
  }
  const std::string chosen = wanted.hex == out.lower.hex   ? "the lower neighbour"
                             : wanted.hex == out.upper.hex ? "the upper neighbour"
                                                           : "neither neighbour (the op's saturation, flushing or "
                                                             "specials decide)";
  out.decision = std::string(name_of(op.rounding)) + ": " + where + ", so " + chosen;
  return out;
}

}  // namespace mmafuzz
