// Arm's widening dot products of 16-bit operands and POWER10's outer products (docs/semantics.md 14): a block of
// products summed exactly and rounded once, and then added to c, rounded again.
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code sum_then_add(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const int n = smaller(m.block, m.k - first);
    typename Domain::Sum products = d.nothing();
    for (int i = first; i < first + n; ++i) d.add_product(products, i);
    c = d.added(first == 0, c, d.rounded(products, first, n));
  }
  return c;
}
