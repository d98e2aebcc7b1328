// m8n8k4 of fp16 where there is no tensor core for it (sm_80 and later), and AMX's tiles (docs/semantics.md 8): chains
// of fp32 FMAs over `block` products each, added to c in turn or by their sum in fp32, and for an fp16 d one conversion
// at the end, which is not traced. The subnormal rule applies to fp32: a subnormal fp16 operand is a normal number
// there.
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code fma_then_add(const Domain& d, typename Domain::Code c) {
  const DotModel& m = d.model();
  typename Domain::Real sum = d.addend(c), of_chains = d.zero();
  for (int first = 0; first < m.k; first += m.block) {
    d.begin_block(first / m.block);
    typename Domain::Real chain = d.zero();
    for (int i = first; i < smaller(first + m.block, m.k); ++i) {
      const bool multiplies = i == first && m.chain_start == ChainStart::first_product;
      chain = multiplies ? d.multiply(d.a(i), d.b(i)) : d.fma(d.a(i), d.b(i), chain);
    }
    if (m.chain_join == ChainJoin::in_turn) {
      sum = d.add(sum, chain);
    } else {
      of_chains = first == 0 ? chain : d.add(of_chains, chain);
    }
  }
  if (m.chain_join == ChainJoin::summed_first) sum = d.add(sum, of_chains);
  return d.stored(sum);
}
