// FP8 mma.sync where it is emulated (sm_90 and sm_100): operands become fp16. A fused sum from zero takes the
// products i with i mod 4 in {0,1}, a second one from the first one's result those with {2,3}, and an IEEE addition
// joins c last (docs/semantics.md 4).
//
// A text over a domain (arithmetic/kernels/README.md).

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code emulated_fp8(const Domain& d, typename Domain::Code c) {
  typename Domain::Code sum{};
  for (int half = 0; half < 2; ++half) sum = fused_sum(d.half(half), sum);
  return d.joined(c, sum);
}
