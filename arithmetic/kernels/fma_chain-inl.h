// A chain of IEEE fused multiply-adds from c in index order, each rounded to d's format (docs/semantics.md 8).
//
// A text over a domain (arithmetic/kernels/README.md).

/// Product i and c under the row's Form.
template <class Domain>
MMAFUZZ_KERNEL typename Domain::Real fma_of_form(const Domain& d, int i, const typename Domain::Real& c) {
  const DotModel& m = d.model();
  if (m.form == Form::s_alone) return d.multiply(d.a(i), d.b(i));
  const typename Domain::Real result =
      d.fma(negates_sum(m) ? d.negated(d.a(i)) : d.a(i), d.b(i), negates_c(m) ? d.negated(c) : c);
  return negates_result(m) ? d.negated(result) : result;
}

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code fma_chain(const Domain& d, typename Domain::Code c) {
  typename Domain::Real sum = d.addend(c);
  const bool plain = d.model().form == Form::s_plus_c;  // asked once: lanes are slower where each product asks
  for (int i = 0; plain && i < d.model().k; ++i) {
    d.begin_block(i);
    sum = d.fma(d.a(i), d.b(i), sum);
  }
  for (int i = 0; !plain && i < d.model().k; ++i) {
    d.begin_block(i);
    sum = fma_of_form(d, i, sum);
  }
  return d.stored(sum);
}
