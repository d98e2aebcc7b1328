// The grouped scaled sum of NVFP4 and MXFP4 (docs/semantics.md 3, GST-FDPA): each group of products is summed exactly,
// times the exact scale significands; groups and c are aligned by the scales' exponents, truncated and summed.
//
// A text over a domain (arithmetic/kernels/README.md).

/// The terms of section 3.
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
  return aligned_sum<Groups>(d, 0, (m.k + m.group - 1) / m.group, true, c_code);
}
