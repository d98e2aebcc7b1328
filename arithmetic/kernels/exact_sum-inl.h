// CDNA1's matrix core (docs/semantics.md 5, E-FDPA): c and a block of products summed exactly, rounded once.
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code exact_sum(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const int n = smaller(m.block, m.k - first);
    typename Domain::Sum products = d.nothing();
    for (int i = first; i < first + n; ++i) d.add_product(products, i);
    c = d.rounded(products, first, n, first == 0, c);
  }
  return c;
}
