// Infinities and NaNs among the terms of an element decide it as they decide the exact sum, and an element whose terms
// are all zeros has the sign of that sum (docs/ozaki.md). The slices of an emulated product hold neither: emulations
// that do not handle them apart give finite numbers for NaN.
#include "oracles/exact/exact_sum.h"
#include "oracles/properties/gemm_elements.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class GemmSpecials final : public Property {
 public:
  GemmSpecials() : Property("gemm_specials", "infinities, NaNs and signs of zeros are those of the exact sum") {}
  bool applies(const Op& op, const Unit& unit) const override {
    return op.kind == OpKind::gemm && op.d.fields().specials == Specials::ieee;
  }

 protected:
  bool judges_alone() const override { return true; }
  std::vector<int> broken_elements(const Unit&, const Batch& cases, const Outcomes& base) const override {
    const Op& op = cases.op();
    bool special_scalar = false;
    for (const std::optional<uint64_t>& factor : {op.alpha, op.beta})
      special_scalar |= factor && is_special(op.d.fields(), *factor);
    Lines rows, columns;
    return first_broken(cases, base, [&](const gemm::GemmCase& one, int element, uint64_t result) {
      if (element == 0) {
        rows.load(op.a.fields(), one.a, op.m, op.k, size_t(op.k), 1);
        columns.load(op.b.fields(), one.b, op.n, op.k, 1, size_t(op.n));
      }
      const size_t i = size_t(element / op.n), j = size_t(element % op.n);
      const uint64_t c = one.c[size_t(element)];
      const bool any_special = special_scalar || rows.special[i] || columns.special[j] || is_special(op.c.fields(), c);
      if (!any_special && (!is_zero(op.c.fields(), c) || rows.meets(i, columns, j))) return true;
      if (!op.has_alpha_beta() && result == plainly_expected(op, one, i, j)) return true;
      const uint64_t expected = exact_by_mpfr(op, one, element);
      // Special operands that a zero alpha or beta leaves out do not decide.
      return (any_special && !is_special(op.d.fields(), expected)) || same_result(op, result, expected);
    });
  }

 private:
  /// The result of terms of which some are special, or of which all are zeros: what the first paragraph of
  /// docs/ozaki.md, "What every matrix product means", says. It may only accept a result: where it differs, MPFR
  /// decides.
  static uint64_t plainly_expected(const Op& op, const gemm::GemmCase& one, size_t i, size_t j) {
    const size_t k = size_t(op.k), n = size_t(op.n);
    gemm::TermClasses terms;
    for (size_t l = 0; l < k; ++l)
      terms.note(to_exact(decode(op.a.fields(), one.a[i * k + l])), to_exact(decode(op.b.fields(), one.b[l * n + j])));
    const Number c = decode(op.c.fields(), one.c[i * n + j]);
    terms.note(c.cls, c.negative);
    const FormatFields& d = op.d.fields();
    return terms.is_special() ? terms.special_result(d, op.rounding_rule())
                              : d.encode_zero(terms.zero_sign(op.rounding));
  }

  /// The rows of a, or the columns of b.
  struct Lines {
    std::vector<uint8_t> special;  ///< [line]: whether it holds an infinity or NaN
    std::vector<uint64_t> filled;  ///< [line * words + l / 64]: bit l % 64 says whether element l is nonzero
    size_t words = 0;

    void load(const FormatFields& f, const std::vector<uint64_t>& from, int lines, int k, size_t line_stride,
              size_t stride) {
      words = size_t(k + 63) / 64;
      special.assign(size_t(lines), 0);
      filled.assign(size_t(lines) * words, 0);
      for (size_t i = 0; i < size_t(lines); ++i)
        for (size_t l = 0; l < size_t(k); ++l) {
          const uint64_t x = from[i * line_stride + l * stride];
          special[i] |= is_special(f, x);
          if (!is_zero(f, x)) filled[i * words + l / 64] |= uint64_t{1} << (l & 63);
        }
    }
    /// Whether any product of this one's line i and the other's line j has two nonzero factors.
    bool meets(size_t i, const Lines& other, size_t j) const {
      for (size_t w = 0; w < words; ++w)
        if (filled[i * words + w] & other.filled[j * words + w]) return true;
      return false;
    }
  };
};

}  // namespace

std::unique_ptr<Property> make_gemm_specials() { return std::make_unique<GemmSpecials>(); }

}  // namespace mmafuzz
