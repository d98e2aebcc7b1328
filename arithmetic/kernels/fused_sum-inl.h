// The truncated fused sum of NVIDIA matrix units, d = round(c + sum a[i]*b[i]): docs/semantics.md 1 (T-FDPA) and 2
// (ST-FDPA, one power-of-two scale per side).
//
// A text over a domain (arithmetic/kernels/README.md): plain `if` and `for` where the row decides, masks and select()
// where data decides.

/// The terms of section 1: products of two operands, with their scales where the operation has any.
struct Products {
  static constexpr Addend::Source source = Addend::Source::product;

  template <class Domain>
  MMAFUZZ_HD static typename Domain::Term term(const Domain& d, int i, typename Domain::Seen& seen) {
    return d.product(i, seen);
  }
};

/// One block: n terms from `first` on, and c. `c_is_operand`: c is the instruction's operand, not the result of the
/// block before.
template <class Terms, class Domain>
MMAFUZZ_KERNEL typename Domain::Code aligned_sum(const Domain& domain, int first, int n, bool c_is_operand,
                                                 typename Domain::Code c_code) {
  const Domain d = domain;  // a copy that no store can change: compilers keep it in registers
  const DotModel& m = d.model();
  typename Domain::Seen seen = d.nothing_seen();
  const auto c = d.addend(c_is_operand, c_code, seen);
  typename Domain::Int greatest = d.alignment_exponent(c);
  if (m.zero_rule == ZeroRule::clamp) greatest = greater_of(greatest, typename Domain::Int(m.zero_exponent));

  typename Domain::Term term[max_instruction_k];
  for (int i = 0; i < n; ++i) {
    term[i] = Terms::term(d, first + i, seen);
    greatest = greater_of(greatest, d.alignment_exponent(term[i]));
  }
  const typename Domain::Mask special = d.specials(seen);
  typename Domain::Code of_specials{};
  if (any(special)) {
    of_specials = domain.special_result(Terms{}, term, first, n, c_is_operand, c_code);
    if (all(special)) return of_specials;
  }
  const typename Domain::Sum sum = d.cut_and_summed(term, n, c, greatest);
  return select(special, of_specials, d.rounded(Terms{}, term, first, n, c, greatest, sum));
}

/// One instruction of m.k products in blocks of m.block.
template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code fused_sum(const Domain& d, typename Domain::Code c_code) {
  const DotModel& m = d.model();
  typename Domain::Mask special{};
  typename Domain::Code of_specials{};
  if (m.special_scope == SpecialScope::whole_k) {
    typename Domain::Seen seen = d.nothing_seen();
    typename Domain::Term term[max_instruction_k];
    d.look_at_addend(c_code, seen);
    for (int i = 0; i < m.k; ++i) term[i] = d.product(i, seen);
    special = d.specials(seen);
    if (any(special)) {
      of_specials = d.special_result(Products{}, term, 0, m.k, /*c_is_operand=*/true, c_code);
      if (all(special)) return of_specials;
    }
  }
  typename Domain::Code accumulator = c_code;
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    accumulator = aligned_sum<Products>(d, first, smaller(m.block, m.k - first), first == 0, accumulator);
  }
  return select(special, of_specials, accumulator);
}
