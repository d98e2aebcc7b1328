// RISC-V's bulk normalization (docs/semantics.md 15): the fused sum of a block of products alone, from +0, whose terms
// are rounded to odd as they are cut; then an IEEE addition joins c, rounded again.
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code bulk_normalized(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const typename Domain::Code nothing{};
    const auto sum = aligned_sum<Products>(d.products_alone(), first, smaller(m.block, m.k - first),
                                           /*c_is_operand=*/false, nothing);
    c = d.added(first == 0, c, sum);
  }
  return c;
}
