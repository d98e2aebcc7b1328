// CDNA2's matrix core (docs/semantics.md 6, FTZ-AddMul): products and pairwise sums as separate IEEE operations in d's
// format, then added to c.
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code ieee_tree(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  typename Domain::Real sum = d.addend(c);
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const int n = smaller(m.block, m.k - first);
    typename Domain::Real node[max_instruction_k];
    typename Domain::Seen seen{};  // infinities and NaNs of the block's operands, before a product overflows
    for (int i = 0; i < n; ++i) node[i] = d.product(first + i, seen);
    for (int count = n; count > 1; count = (count + 1) / 2) {
      for (int i = 0; i < count / 2; ++i) node[i] = d.add(node[2 * i], node[2 * i + 1]);
      if (count % 2) node[count / 2] = node[count - 1];
    }
    sum = d.joined(sum, node[0], seen);
  }
  return d.stored(sum);
}
