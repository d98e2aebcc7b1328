#include "prove/formulas/term_chains.h"

namespace mmafuzz::prove {

TermChains::TermChains(const DotModel& m, const Operands& x, const FormatFields& c_format, std::vector<Stage>& stages)
    : TermDomain(m, x, c_format, stages), rules_{step_format(m), m.output_rounding, m.nan, subnormals_of_results(m)} {
  rules_.tininess = m.tininess;
  if (converts_last(m)) rules_.nan = rules_.format.encode_nan();
  if (traits_of(m).products == KernelTraits::Products::rounded) rules_.overflow = m.overflow;
}

TermChains::Real TermChains::addend(Code code) const {
  const Real c = operand(c_format_, code);
  if (!is_wider()) return c;
  Real wide = real(ieee_rounded({rules_.format, rules_.rounding, rules_.nan}, c.number));
  if (m_.nan_from != NanFrom::constant) {
    wide.encoding = choose(c.number.nan, c.encoding, wide.encoding);
    wide.signalling = c.signalling;
  }
  return wide;
}

TermChains::Real TermChains::operand(const FormatFields& f, Expression code) const {
  const Number n = read(f, code);
  if (m_.nan_from == NanFrom::constant || code.is_none()) return {n, code};
  const NanTerm nan = nan_term(rules_.format, f, n, code);
  return {n, nan.quiet, nan.signalling};
}

TermChains::Real TermChains::result(const std::string& name, Expression encoding, const Real* a, const Real* b,
                                    const Real* c) const {
  if (m_.nan_from != NanFrom::constant) {
    const auto operand_of = [&](const Real* x) {
      return x ? NanTerm{x->number.nan, x->signalling, x->encoding} : NanTerm{};
    };
    const NanTerm abc[3] = {operand_of(a), operand_of(b), operand_of(c)};
    const Expression invalid = a && b ? is_invalid_product(a->number, b->number) : constant(1, 0);
    const Expression nan =
        nan_result(m_.nan_from, abc, invalid, constant(rules_.format.width, static_cast<int64_t>(rules_.nan)));
    encoding = choose(decoded(rules_.format, encoding).nan, nan, encoding);
  }
  note({name, {encoding}});
  return real(encoding);
}

TermChains::Real TermChains::negated(Real x) const {
  const FormatFields& d = rules_.format;
  const Expression sign = concat(~x.number.nan, constant(d.width - 1, 0));
  x.number.negative = ~x.number.negative;
  x.encoding = x.encoding.width() == d.width ? x.encoding ^ sign : x.encoding;  // of a factor, only a NaN's is read
  return x;
}

TermChains::Real TermChains::fma(const Real& x, const Real& y, const Real& z) const {
  const Number p = product_of(x.number, y.number);
  note("product", p, {}, {p.zero});
  return result("step", ieee_sum(rules_, p, z.number, &stages_), &x, &y, &z);
}

TermChains::Real TermChains::multiply(const Real& x, const Real& y) const {
  return result("product", ieee_rounded(rules_, product_of(x.number, y.number)), &x, &y, nullptr);
}

TermChains::Real TermChains::add(const Real& x, const Real& y) const {
  return result("sum", sum_of(x, y), &x, &y, nullptr);
}

Expression TermChains::sum_of(const Real& x, const Real& y) const {
  const bool swaps = y.encoding.index() < x.encoding.index();
  const Number &first = (swaps ? y : x).number, &second = (swaps ? x : y).number;
  return ieee_sum(rules_, first, second);
}

TermChains::Real TermChains::product(int i, Seen& seen) const {
  const Real x = a(i), y = b(i);
  const Number p = product_of(x.number, y.number);
  seen.operands.push_back(p);
  Expression encoding = ieee_rounded(rules_, p);
  if (m_.product_overflow != ProductOverflow::none || m_.overflow_rank != OverflowRank::equal) {
    IeeeRules to_infinity = rules_;
    to_infinity.overflow = Overflow::infinity;
    const Expression exceeding = ieee_rounded(to_infinity, p);
    const Expression overflows = decoded(m_.d, exceeding).infinite & ~p.infinite & ~p.nan;
    seen.overflows.push_back(overflows);
    if (m_.product_overflow != ProductOverflow::none) encoding = exceeding;
    if (m_.product_overflow == ProductOverflow::positive_infinity)
      encoding = choose(overflows, infinity_of(m_.d, constant(1, 0)), encoding);
  }
  return result("product " + std::to_string(i), encoding, &x, &y, nullptr);
}

TermChains::Real TermChains::joined(const Real& c, const Real& sum, Seen& seen) const {
  const Real joint = result("sum", sum_of(c, sum), &sum, nullptr, &c);
  if (m_.overflow_rank != OverflowRank::below_operands) return joint;
  seen.operands.push_back(c.number);
  const SpecialTerms special = specials_of(table_, seen.operands);
  return real(choose(any_of(table_, seen.overflows) & special.any(), special.result(m_.d, m_.nan), joint.encoding));
}

TermChains::Code TermChains::stored(const Real& x) const {
  if (!converts_last(m_)) return x.encoding;
  return ieee_rounded({m_.d, m_.output_rounding, m_.nan}, x.number);  // does not flush
}

}  // namespace mmafuzz::prove
