// CDNA3's matrix core (docs/semantics.md 7): products are cut and summed first; a second stage floors their sum and c
// and adds them (TR-FDPA). With fp8 operands even and odd products are aligned apart (GTR-FDPA).
//
// A text over a domain (arithmetic/kernels/README.md).

/// What a block's result is made of. product_part and c_part are in units of 2^(greatest - below).
template <class Domain>
struct TwoStages {
  typename Domain::Partial products;
  typename Domain::Addend c;
  typename Domain::Int greatest;  ///< the greater of the exponents of products and c
  int below;                      ///< how many bits below `greatest` the second stage's unit lies
  typename Domain::Wide product_part, c_part;
};

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code two_stage_sum(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  const bool floors_again = m.second_stage == SecondStage::floor32_then_31;
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    const int n = smaller(m.block, m.k - first);
    typename Domain::Term term[max_instruction_k];
    typename Domain::Seen seen = d.nothing_seen();
    for (int i = 0; i < n; ++i) term[i] = d.product(first + i, seen);

    TwoStages<Domain> s;
    s.products = m.odd_even ? d.joined(d.cut_and_summed(term, 0, 2, n), d.cut_and_summed(term, 1, 2, n))
                            : d.cut_and_summed(term, 0, 1, n);
    s.c = d.addend(first == 0, c, s.products, seen);
    s.greatest = greater_of(s.products.greatest, s.c.exponent);
    // floored() cuts the products' sum at `below`, c at fraction_bits. In section 7 these are 32 (or 31) and 24.
    s.below = m.fraction_bits + (floors_again ? 8 : 7);
    s.product_part = d.floored(s.products, s.greatest, s.below);
    s.c_part = d.floored(s.c, s.greatest, s.below);
    if (m.odd_even) s.c_part = d.zero_where_below(s.c_part, s.c.exponent, s.greatest, m.fraction_bits + 1);
    typename Domain::Wide total = d.plus(s.product_part, s.c_part);
    if (floors_again) total = d.floored_below_leading(total, s.greatest, s.below, m.fraction_bits + 7);
    c = d.rounded(s, total, term, first, n, seen);
  }
  return c;
}
