#include "oracles/exact/exact_gemm.h"

#include "oracles/exact/exact_dot.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/exact/exact_sum.h"
#include "core/function_unit.h"

namespace mmafuzz::gemm {
namespace {

class ElementwiseGemm final : public Unit {
 public:
  ElementwiseGemm(ExactBy way, const Op& op) : way_(way), op_(op) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    GemmCase one(op_);
    Element element;
    for (size_t index = 0; index < batch.size(); ++index) {
      one.load(batch, index);
      for (size_t e = 0; e < one.c.size(); ++e) {
        element.load(op_, one, e);
        outcomes.results.set(index, static_cast<int>(e), exact_element(way_, op_, element));
      }
    }
  }

 private:
  ExactBy way_;
  Op op_;
};

uint64_t by_accumulator(const Op& op, const Element& in) {
  const auto read = [&](const Format& f, uint64_t encoding) {
    return to_exact(flushed_operand(f.fields(), decode(f.fields(), encoding), op.flush_to_zero));
  };
  const Scalars scalars(op);
  TermClasses classes;
  ExactSum sum;
  for (size_t l = 0; scalars.reads_products() && l < in.a.size(); ++l) {
    const Exact p = exact_product(read(op.a, in.a[l]), read(op.b, in.b[l]));
    classes.note(p, scalars.alpha);
    sum.add(p);
  }
  const Exact c = read(op.c, in.c);
  if (scalars.reads_c()) classes.note(c, scalars.beta);
  const FormatFields& d = op.d.fields();
  const RoundingRule rule = op.rounding_rule();
  if (classes.is_special()) return classes.special_result(d, rule);
  const bool zero_negative = classes.zero_sign(op.rounding);
  const Rounded r = op.has_alpha_beta() ? sum.rounded_with(scalars.alpha, scalars.beta, c, zero_negative, d, rule)
                                        : sum.rounded_with(c, zero_negative, d, rule);
  return flushed_result(d, r, op.flush_to_zero).encoding;
}

/// MPFR decides classes, products and sums; only the sign of an exact zero is decided here.
uint64_t by_mpfr(const Op& op, const Element& in) {
  exact::Mpfr sum(element_precision);
  const TermCount seen = element_value(op, in, sum.get());
  if (seen.terms == 0) return op.d.fields().encode_zero(false);
  if (mpfr_zero_p(sum.get()))
    return op.d.fields().encode_zero(seen.negative == seen.terms ||
                                     (seen.negative > 0 && op.rounding == Rounding::down));
  return exact::rounded_result(op, sum.get()).encoding;
}

/// alpha * sum a*b + beta * c is one dot whose products have a scale each (alpha; for c * 1 beta), which the twin of
/// the exact dot evaluates in an unlimited range. All factors are in fp64, which holds every other format's numbers.
uint64_t by_bigint(const Op& op, const Element& in) {
  const Format wide = format("fp64");
  const FormatFields& f = wide.fields();
  const auto widened = [&](const Format& from, uint64_t encoding) {
    if (from == wide && !op.flush_to_zero) return encoding;
    const Number x = flushed_operand(from.fields(), decode(from.fields(), encoding), op.flush_to_zero);
    if (x.cls == NumberClass::nan) return f.encode_nan();
    if (x.cls == NumberClass::infinity) return f.encode_infinity(x.negative);
    return round_exact(f, to_exact(x), {}).encoding;
  };
  const uint64_t one = uint64_t(f.bias) << f.fraction_bits;
  const uint64_t alpha = op.alpha ? widened(op.d, *op.alpha) : one;
  const uint64_t beta = op.beta ? widened(op.d, *op.beta) : one;
  std::vector<uint64_t> a, b, scales;
  const auto add_term = [&](uint64_t x, uint64_t y, uint64_t scale) {
    a.push_back(x);
    b.push_back(y);
    scales.push_back(scale);
  };
  if (alpha << 1 != 0)
    for (size_t l = 0; l < in.a.size(); ++l) add_term(widened(op.a, in.a[l]), widened(op.b, in.b[l]), alpha);
  if (beta << 1 != 0) add_term(widened(op.c, in.c), one, beta);
  if (a.empty()) return op.d.fields().encode_zero(false);
  Op dot = op;
  dot.kind = OpKind::dot;
  dot.a = dot.b = dot.c = dot.scale_a = dot.scale_b = wide;
  dot.scale_block = 1;
  dot.k = static_cast<int>(a.size());
  const std::vector<uint64_t> ones(a.size(), one);
  DotOperands operands;
  operands.a = a.data();
  operands.b = b.data();
  operands.scale_a = scales.data();
  operands.scale_b = ones.data();
  operands.k = dot.k;
  // The dot's own c is a zero of the last term's sign: it changes neither a sum nor the sign of a zero.
  operands.c = (a.back() ^ b.back() ^ scales.back()) & f.sign_bit();
  return exact::bigint_dot(dot, operands);
}

}  // namespace

TermCount element_value(const Op& op, const Element& in, mpfr_ptr sum) {
  using namespace exact;
  Mpfr term(256), x(64), scalar(64);
  TermCount seen;
  const auto set_scalar = [&](const std::optional<uint64_t>& given) {
    mpfr_set_si(scalar.get(), 1, MPFR_RNDN);
    if (given) set_operand(scalar.get(), op, op.d, *given);
    return !mpfr_zero_p(scalar.get());
  };
  const auto accumulate = [&] {
    must_be_exact(mpfr_mul(term.get(), term.get(), scalar.get(), MPFR_RNDN));
    must_be_exact(seen.terms == 0 ? mpfr_set(sum, term.get(), MPFR_RNDN) : mpfr_add(sum, sum, term.get(), MPFR_RNDN));
    ++seen.terms;
    seen.negative += mpfr_signbit(term.get()) != 0;
  };
  mpfr_set_zero(sum, 1);
  if (set_scalar(op.alpha)) {
    for (size_t l = 0; l < in.a.size(); ++l) {
      set_operand(term.get(), op, op.a, in.a[l]);
      set_operand(x.get(), op, op.b, in.b[l]);
      must_be_exact(mpfr_mul(term.get(), term.get(), x.get(), MPFR_RNDN));
      accumulate();
    }
  }
  if (set_scalar(op.beta)) {
    set_operand(term.get(), op, op.c, in.c);
    accumulate();
  }
  return seen;
}

uint64_t exact_element(ExactBy way, const Op& op, const Element& in) {
  return way == ExactBy::accumulator ? by_accumulator(op, in)
         : way == ExactBy::mpfr      ? by_mpfr(op, in)
                                     : by_bigint(op, in);
}

std::unique_ptr<Unit> make_exact_gemm(ExactBy way, const Op& op) { return std::make_unique<ElementwiseGemm>(way, op); }

}  // namespace mmafuzz::gemm
