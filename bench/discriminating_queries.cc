#include "bench/discriminating_queries.h"

#include "arithmetic/ieee_operations.h"

namespace mmafuzz {
namespace {

const std::string volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32",
                  volta_fp16 = "model:volta/mma.m8n8k4.f16.f16.f16.f16",
                  ampere = "model:ampere/mma.m16n8k8.f32.f16.f16.f32";
constexpr const char* modes[] = {"nearest_even", "toward_zero", "up", "down"};  // RNE, RTZ, RTP, RTN

std::string dot(const char* accumulator, int k) {
  return std::string("dot a=fp16 b=fp16 c=") + accumulator + " d=" + accumulator + " k=" + std::to_string(k);
}

Exact product(const DotOperands& in, int i) { return exact_product(fp16_fields, in.a[i], fp16_fields, in.b[i]); }

bool no_condition(const Op&, const DotOperands&) { return true; }

bool products_alone(const Op& op, const DotOperands& in) { return is_zero(op.c.fields(), in.c); }

/// Property 1: neither product is an fp16 number, but their sum is one.
bool exact_sum_of_inexact_products(const Op& op, const DotOperands& in) {
  const Exact x = product(in, 0), y = product(in, 1);
  const auto inexact = [](const Rounded& r) { return (r.flags & flag::inexact) != 0; };
  return products_alone(op, in) && inexact(round_exact(fp16_fields, x, {})) &&
         inexact(round_exact(fp16_fields, y, {})) && !inexact(add_exact(fp16_fields, x, y, {}));
}

bool positive(const Op& op, const DotOperands& in) {
  const auto above_zero = [](const FormatFields& f, uint64_t v) { return !is_zero(f, v) && (v & f.sign_bit()) == 0; };
  bool all = above_zero(op.c.fields(), in.c);
  for (int i = 0; i < in.k; ++i) all = all && above_zero(fp16_fields, in.a[i]) && above_zero(fp16_fields, in.b[i]);
  return all;
}

/// Stricter than the paper's property 4, which admits inputs that show nothing but the order of the additions. Here the
/// terms descend: product 0, product 1, ..., c (encodings of positive numbers are ordered). Then aligned and sequential
/// sums lose the same bits until a partial sum grows by a digit.
bool positive_and_descending(const Op& op, const DotOperands& in) {
  if (!positive(op, in)) return false;
  uint64_t last = in.c;
  for (int i = in.k - 1; i >= 0; --i) {
    const uint64_t p = round_exact(fp32_fields, product(in, i), {}).encoding;  // exact
    if (p < last) return false;
    last = p;
  }
  return true;
}

std::vector<Query> make_queries() {
  const std::string left = "hypothesis:left-to-right", right = "hypothesis:right-to-left";
  constexpr bool first_is_exact = true;
  std::vector<Query> all;
  all.push_back({"exact-product", &exact_product_query, dot("fp32", 1), volta, "hypothesis:narrow-products",
                 products_alone, first_is_exact});
  all.push_back({"exact-addition", &exact_addition_query, dot("fp16", 2), volta_fp16, "hypothesis:narrow-sums",
                 exact_sum_of_inexact_products, first_is_exact});

  const auto final_mode = [](const char* mode) { return volta_fp16 + "?output_rounding=" + mode; };
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j)
      all.push_back({std::string("final-rounding/") + modes[i] + "-" + modes[j], &final_rounding_query, dot("fp16", 1),
                     final_mode(modes[i]), final_mode(modes[j]), products_alone});

  // One product and c, as in table 3. The units truncate before the sum; IEEE additions round by one of the modes. The
  // paper aligns products as fp32 numbers, that is, normalized (algorithm 1); the units do not, which other inputs
  // would show.
  const std::string aligned = volta + "?product=normalized";
  const auto mode_of = [&](const char* mode) { return left + "?rounding=" + mode; };
  for (int i = 0; i < 4; ++i)
    all.push_back({std::string("accumulator-rounding/truncation-") + modes[i], &accumulator_rounding_query,
                   dot("fp32", 1), aligned, mode_of(modes[i]), no_condition});
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j)
      all.push_back({std::string("accumulator-rounding/") + modes[i] + "-" + modes[j], &accumulator_rounding_query,
                     dot("fp32", 1), mode_of(modes[i]), mode_of(modes[j]), no_condition});

  all.push_back({"order", &order_query, dot("fp32", 3), left, right, products_alone});
  all.push_back({"normalization", &normalization_query, dot("fp32", 2), aligned, left, positive});
  all.push_back(
      {"normalization/descending", &normalization_query, dot("fp32", 2), aligned, left, positive_and_descending});

  // The paper's terms are normalized, below 2: with n carry bits their sum wraps at 2^(n+1), so integer_bits = n + 1.
  // The units' products are below 4 and not normalized (docs/semantics.md 1.5): the sum of k of them and c is below 4k
  // + 2, which takes one bit more. The second hypothesis of each query has one bit fewer.
  const std::string normalized = "?product=normalized,integer_bits=", as_measured = "?integer_bits=";
  all.push_back({"carry-bits/3", &three_carry_bits_query, dot("fp32", 4), volta + normalized + "4",
                 volta + normalized + "3", positive});
  all.push_back({"carry-bits/3-unnormalized", &three_carry_bits_query, dot("fp32", 4), volta + as_measured + "5",
                 volta + as_measured + "4", positive});
  all.push_back({"carry-bits/4", &four_carry_bits_query, dot("fp32", 8), ampere + normalized + "5",
                 ampere + normalized + "4", positive});
  all.push_back({"carry-bits/4-unnormalized", &four_carry_bits_query, dot("fp32", 8), ampere + as_measured + "6",
                 ampere + as_measured + "5", positive});
  return all;
}

}  // namespace

const std::vector<Query>& discriminating_queries() {
  static const std::vector<Query> all = make_queries();
  return all;
}

}  // namespace mmafuzz
