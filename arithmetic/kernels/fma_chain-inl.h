// A chain of IEEE fused multiply-adds from c in index order, each rounded to d's format (docs/semantics.md 8).
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code fma_chain(const Domain& d, typename Domain::Code c) {
  typename Domain::Real sum = d.addend(c);
  for (int i = 0; i < d.model().k; ++i) {
    d.begin_block(i);
    sum = d.fma(d.a(i), d.b(i), sum);
  }
  return d.stored(sum);
}
