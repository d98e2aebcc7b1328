// RDNA3's and RDNA4's dot products and matrix units (docs/semantics.md 13): the fused sum (kernels/fused_sum-inl.h)
// whose terms are floored (RDNA4) or join as one's complements (RDNA3). RDNA4's terms are first sums: two or four
// products, each cut below the greatest exponent among them.
//
// A text over a domain (arithmetic/kernels/README.md).

/// The terms of aligned_sum as first sums: term s is the sum of `first_sum` products, or of what k leaves.
struct FirstSums {
  static constexpr Addend::Source source = Addend::Source::first_sum;

  template <class Domain>
  MMAFUZZ_HD static typename Domain::Term term(const Domain& d, int s, typename Domain::Seen& seen) {
    const DotModel& m = d.model();
    return d.first_sum(s * m.first_sum, smaller((s + 1) * m.first_sum, m.k), seen);
  }
};

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code floored_sum(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const int n = smaller(m.block, m.k - first);
    c = m.first_sum == 1
            ? aligned_sum<Products>(d, first, n, first == 0, c)
            : aligned_sum<FirstSums>(d, first / m.first_sum, (n + m.first_sum - 1) / m.first_sum, first == 0, c);
  }
  return c;
}
