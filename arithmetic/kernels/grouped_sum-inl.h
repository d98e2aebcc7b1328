// The grouped scaled sum of NVFP4 and MXFP4 (docs/semantics.md 3, GST-FDPA): each group of products is summed exactly,
// times the exact scale significands; groups and c are aligned by the scales' exponents, truncated and summed.
//
// A text over a domain (arithmetic/kernels/README.md): a template that vector code includes once for each instruction
// set, so it has no include guard. The instruction's k products are one block.

/// The terms of section 3. term() notes in `seen` whether the group has an infinity or NaN.
struct Groups {
  static constexpr Addend::Source source = Addend::Source::group;

  template <class Domain>
  MMAFUZZ_HD static typename Domain::Term term(const Domain& d, int g, typename Domain::Seen& seen) {
    const DotModel& m = d.model();
    return d.group(g * m.group, smaller((g + 1) * m.group, m.k), seen);
  }
};

template <class Domain>
MMAFUZZ_KERNEL typename Domain::Code grouped_sum(const Domain& d, typename Domain::Code c_code) {
  const DotModel& m = d.model();
  d.begin_block(0);
  const int groups = (m.k + m.group - 1) / m.group;
  return aligned_sum<Groups>(d, /*first=*/0, groups, /*c_is_operand=*/true, c_code);
}
