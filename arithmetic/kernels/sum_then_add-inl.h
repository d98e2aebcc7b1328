// Arm's widening dot products of 16-bit operands, POWER10's outer products and FP8 on x86 (docs/semantics.md 14): a
// block of products is summed exactly and rounded once, and the rounded sums are added to c in turn, or to each other
// first and then to c, each addition rounded.
//
// A text over a domain (arithmetic/kernels/README.md).

/// The encoding of what the row's Form makes of c and a rounded sum. `c_is_operand`: c is the instruction's operand,
/// not the result of the block before.
template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code added_in_form(const Domain& d, bool c_is_operand, typename Domain::Code c,
                                                   typename Domain::Code sum) {
  const DotModel& m = d.model();
  if (m.form == Form::s_alone) return sum;
  return d.added(c_is_operand, negates_c(m) ? d.negated(c_is_operand, c) : c,
                 negates_sum(m) ? d.negated(/*c_is_operand=*/false, sum) : sum);
}

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code sum_then_add(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  typename Domain::Code of_blocks{};
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const int n = smaller(m.block, m.k - first);
    typename Domain::Sum products = d.nothing();
    for (int i = first; i < first + n; ++i) d.add_product(products, i);
    const typename Domain::Code sum = d.rounded(products, first, n);
    if (m.chain_join == ChainJoin::in_turn) {
      c = added_in_form(d, first == 0, c, sum);
    } else {
      of_blocks = first == 0 ? sum : d.added(/*c_is_operand=*/false, of_blocks, sum);
    }
  }
  if (m.chain_join == ChainJoin::summed_first) c = added_in_form(d, /*c_is_operand=*/true, c, of_blocks);
  return c;
}
