// The error bound of a scheme of residues (README.md, "Residues"), and which of its stages went wrong.
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/residue_constants.h"
#include "oracles/gemm/rounded_up.h"
#include "oracles/lanes/host_float.h"

namespace mmafuzz::gemm {

bool ResidueGemm::within_bound(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint64_t c,
                               const Scales& by, int row, int column, uint64_t result, JudgedError* judged) const {
  const auto n = size_t(op_.n), k = size_t(op_.k);
  const int scale_a = by.a[size_t(row)], scale_b = by.b[size_t(column)];
  Element in{std::vector<uint64_t>(k), std::vector<uint64_t>(k), c};
  Up cut, product;
  // What truncation to an integer loses of a number.
  const auto cut_of = [](const Number& x, int scale) {
    if (x.cls != NumberClass::finite || x.exponent + scale >= 0) return Up();
    const int drop = -(x.exponent + scale);
    const uint64_t lost = drop > 63 ? x.significand : x.significand & low_mask(drop);
    return Up::power(x.exponent, static_cast<long>(lost));
  };
  for (size_t l = 0; l < k; ++l) {
    in.a[l] = a[size_t(row) * k + l];
    in.b[l] = b[l * n + size_t(column)];
    const Number x = decode(op_.a.fields(), in.a[l]), y = decode(op_.b.fields(), in.b[l]);
    if (!is_finite(x) || !is_finite(y)) return true;
    const Up from_a = cut_of(x, scale_a), from_b = cut_of(y, scale_b), size_a = Up::magnitude(op_.a, in.a[l]),
             size_b = Up::magnitude(op_.b, in.b[l]);
    cut += from_a * size_b + size_a * from_b + from_a * from_b;
    product += size_a * size_b;
  }
  const FormatFields& d = op_.d.fields();
  const uint64_t one = uint64_t(d.bias) << d.fraction_bits;
  const Up whole = product + cut, of_d = Up::power(-d.precision()), least = Up::power(d.least_bit() - 1),
           alpha = Up::magnitude(op_.d, op_.alpha.value_or(one));
  Up addend = Up::magnitude(op_.d, op_.beta.value_or(one));
  addend = mpfr_zero_p(addend.get()) ? Up() : addend * Up::magnitude(op_.c, c);
  Up rounding;
  if (plan_.sum != ResidueSum::exact) {
    // oracles/gemm/README.md, "Residues": the low halves, their sum, the product's two halves; three roundings of the
    // rest.
    const int undone = -(scale_a + scale_b), p = exponent_of(constants_->product) + 1;
    const long r = constants_->residues, n_moduli = static_cast<long>(moduli_.size());
    if (!in_pairs()) rounding += Up::power(p - 53 + undone, r * (n_moduli + 3));
    else rounding += Up::power(constants_->unit - 53 + undone, r * (n_moduli + 2)) + Up::power(p - 106 + undone, 4 * r);
    rounding += Up::power(-51) * whole + Up::power(-1074);
  }
  rounding += of_d * (whole + rounding) + least;
  if (exceeds_range(whole + rounding, op_.d)) return true;
  Up error = alpha * (cut + rounding);
  if (op_.has_alpha_beta()) error += of_d * (alpha * (whole + rounding) + addend) + least + least;
  const Up all = alpha * whole + addend + error;
  error += of_d * all + least;
  if (exceeds_range(all + error, op_.d)) return true;
  exact::Mpfr value(element_precision), got(64);
  element_value(op_, in, value.get());
  exact::set_from_encoding(got.get(), op_.d, result);
  if (!mpfr_number_p(value.get())) return true;
  if (!mpfr_number_p(got.get())) return false;
  mpfr_sub(value.get(), got.get(), value.get(), MPFR_RNDA);
  return is_within(value.get(), error, judged);
}

bool ResidueGemm::finds_all_integers() const {
  const cpp_int half = (constants_->product - 1) / 2;
  for (const int sign : {-1, 1}) {
    const cpp_int x = sign * half;
    std::vector<int> residues;
    for (const int p : moduli_)
      residues.push_back(product_residue(static_cast<int>(x % p), p, plan_.narrow.fields().integer));
    const double found = to_double(op_.d.fields(), reconstructed(residues));
    if (abs(cpp_int(found) - x) > half / 2) return false;  // off by a multiple of P, not by roundings
  }
  return true;
}

std::string ResidueGemm::wrong_stage(const Batch& batch, size_t index) const {
  const DefaultFloatEnvironment environment;
  GemmCase in(op_);
  in.load(batch, index);
  const Stages s = stages(in.a, in.b);
  const auto n = size_t(op_.n), k = size_t(op_.k);
  bool residues_wrong = false;
  for (size_t at = 0; at < in.c.size(); ++at) {
    const size_t i = at / n, j = at % n;
    if (s.a.special[i] || s.b.special[j]) continue;
    cpp_int sum = 0, magnitudes = 0;
    for (size_t l = 0; l < k; ++l) {
      const size_t x = i * k + l, y = j * k + l;
      const cpp_int term = cpp_int(s.a.number[x]) * cpp_int(s.b.number[y]);
      sum += term;
      magnitudes += abs(term);
    }
    if (magnitudes > constants_->greatest) return "scaling";
    for (size_t p = 0; p < moduli_.size(); ++p) residues_wrong |= (sum - s.residues[p][at]) % moduli_[p] != 0;
  }
  if (residues_wrong) return "residues";
  Outcomes outcomes;
  run(batch.part(index), outcomes);
  for (size_t at = 0; at < in.c.size(); ++at)
    if (!within_bound(in.a, in.b, in.c[at], s.by, int(at / n), int(at % n), outcomes.results.get(0, int(at))))
      return "reconstruction";
  return "";
}

}  // namespace mmafuzz::gemm
