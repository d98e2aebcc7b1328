// The error bound of a scheme of residues (README.md, "Residues"), and which of its stages went wrong.
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/residue_constants.h"
#include "oracles/gemm/rounded_up.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {

bool ResidueGemm::within_bound(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c,
                               const Scales& scales, int row, int column, uint64_t result, JudgedError* judged) const {
  const auto n = size_t(op_.n), k = size_t(op_.k);
  const int scale_a = scales.a[size_t(row)], scale_b = scales.b[size_t(column)];
  Element element{std::vector<uint64_t>(k), std::vector<uint64_t>(k), c};
  Bound cut, product;
  // What truncation to an integer loses of a number.
  const auto cut_of = [](const Number& x, int scale) {
    if (x.cls != NumberClass::finite || x.exponent + scale >= 0) return Bound();
    const int drop = -(x.exponent + scale);
    const uint64_t lost = drop > 63 ? x.significand : x.significand & low_mask(drop);
    return Bound::power(x.exponent, static_cast<long>(lost));
  };
  for (size_t l = 0; l < k; ++l) {
    element.a[l] = a[size_t(row) * k + l];
    element.b[l] = b[l * n + size_t(column)];
    if (is_special(op_.a.fields(), element.a[l]) || is_special(op_.b.fields(), element.b[l])) return true;
    const Number x = decode(op_.a.fields(), element.a[l]), y = decode(op_.b.fields(), element.b[l]);
    const Bound cut_a = cut_of(x, scale_a), cut_b = cut_of(y, scale_b), size_a = Bound::magnitude(op_.a, element.a[l]),
                size_b = Bound::magnitude(op_.b, element.b[l]);
    cut += cut_a * size_b + size_a * cut_b + cut_a * cut_b;
    product += size_a * size_b;
  }
  const FormatFields& d = op_.d.fields();
  const Bound whole = product + cut, roundoff = Bound::power(-d.precision()), least = Bound::power(d.least_bit() - 1),
              alpha = Bound::scalar(op_, op_.alpha);
  Bound addend = Bound::scalar(op_, op_.beta);
  addend = mpfr_zero_p(addend.get()) ? Bound() : addend * Bound::magnitude(op_.c, c);
  Bound rounding;
  if (plan_.sum != ResidueSum::exact) {
    // oracles/gemm/README.md, "Residues": the low halves, their sum, the product's two halves; three roundings of the
    // rest.
    const int undone = -(scale_a + scale_b), p = exponent_of(constants_->product) + 1;
    const long r = constants_->sum_of_halves, n_moduli = static_cast<long>(moduli_.size());
    if (!uses_pairs()) rounding += Bound::power(p - 53 + undone, r * (n_moduli + 3));
    else
      rounding +=
          Bound::power(constants_->last_bit - 53 + undone, r * (n_moduli + 2)) + Bound::power(p - 106 + undone, 4 * r);
    rounding += Bound::power(-51) * whole + Bound::power(-1074);
  }
  rounding += roundoff * (whole + rounding) + least;
  if (exceeds_range(whole + rounding, op_.d)) return true;
  Bound error = alpha * (cut + rounding);
  if (op_.has_alpha_beta()) error += roundoff * (alpha * (whole + rounding) + addend) + least + least;
  const Bound magnitude = alpha * whole + addend + error;
  error += roundoff * magnitude + least;
  if (exceeds_range(magnitude + error, op_.d)) return true;
  exact::Mpfr exact_value(element_precision);
  element_value(op_, element, exact_value.get());
  return !mpfr_number_p(exact_value.get()) || is_within(op_.d, result, exact_value.get(), error, judged);
}

bool ResidueGemm::finds_all_integers() const {
  const cpp_int half = (constants_->product - 1) / 2;
  for (const int sign : {-1, 1}) {
    const cpp_int x = sign * half;
    std::vector<int> residues;
    for (const int p : moduli_) residues.push_back(product_residue(static_cast<int>(x % p), p, plan_.narrow));
    const double found = to_double(op_.d.fields(), reconstructed(residues));
    if (abs(cpp_int(found) - x) > half / 2) return false;  // off by a multiple of P, not by roundings
  }
  return true;
}

std::string ResidueGemm::wrong_stage(const Batch& batch, size_t index) const {
  const DefaultFloatEnvironment environment;
  GemmCase matrices(op_);
  matrices.load(batch, index);
  const Stages s = stages(matrices.a, matrices.b);
  const auto n = size_t(op_.n), k = size_t(op_.k);
  bool residues_wrong = false;
  for (size_t element = 0; element < matrices.c.size(); ++element) {
    const size_t i = element / n, j = element % n;
    if (s.a.special[i] || s.b.special[j]) continue;
    cpp_int sum = 0, magnitudes = 0;
    for (size_t l = 0; l < k; ++l) {
      const size_t x = i * k + l, y = j * k + l;
      const cpp_int term = cpp_int(s.a.number[x]) * cpp_int(s.b.number[y]);
      sum += term;
      magnitudes += abs(term);
    }
    if (magnitudes > constants_->greatest) return "scaling";
    for (size_t p = 0; p < moduli_.size(); ++p) residues_wrong |= (sum - s.residues[p][element]) % moduli_[p] != 0;
  }
  if (residues_wrong) return "residues";
  Outcomes outcomes;
  run(batch.part(index), outcomes);
  for (size_t element = 0; element < matrices.c.size(); ++element)
    if (!within_bound(matrices.a, matrices.b, matrices.c[element], s.scales, int(element / n), int(element % n),
                      outcomes.results.get(0, int(element))))
      return "reconstruction";
  return "";
}

}  // namespace mmafuzz::gemm
