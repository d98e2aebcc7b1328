// Questions about sums of products of integers: the slices of scheme I, and the residues of scheme II (docs/ozaki.md).
#include <fmt/core.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>

#include "core/contradiction.h"
#include "core/host_number.h"
#include "core/text.h"
#include "core/ulps.h"
#include "core/unit_name.h"
#include "oracles/gemm/residues.h"
#include "oracles/gemm/width.h"
#include "oracles/models/model_rows.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "prove/inquiry_parts.h"

namespace mmafuzz::prove {
namespace {

/// The integer, below 2^62 in magnitude, that an encoding stands for. False where it stands for none.
bool integer_in(const Format& f, uint64_t encoding, int64_t& value) {
  const mmafuzz::Number n = mmafuzz::decode(f.fields(), encoding);
  if (n.cls != NumberClass::finite && n.cls != NumberClass::zero) return false;
  const double x = to_double(n);
  if (!(std::fabs(x) < 0x1p62) || x != std::floor(x)) return false;
  value = static_cast<int64_t>(x);
  return true;
}

/// The sum of c and the products of a case of integers. Throws Contradiction where an operand is no integer.
int64_t exact_sum(const Batch& one) {
  const Op& op = one.op();
  int64_t sum = 0, a = 0, b = 0;
  bool integers = integer_in(op.c, one.inputs()[2].get(0, 0), sum);
  for (int i = 0; i < op.k; ++i) {
    integers &= integer_in(op.a, one.inputs()[0].get(0, i), a) && integer_in(op.b, one.inputs()[1].get(0, i), b);
    sum += a * b;
  }
  if (!integers) throw Contradiction("an operand of a witness is no integer");
  return sum;
}

bool is_exact_sum(const Batch& one, uint64_t result) {
  int64_t d = 0;
  return integer_in(one.op().d, result, d) && d == exact_sum(one);
}

Op dot_of(const std::string& unit, int products) {
  if (!find_model_row(UnitName(unit).path)) throw BadInput("prove ozaki is about a row of a model, not '" + unit + "'");
  if (products < 1 || products > max_slice_products)
    throw BadInput(fmt::format("prove ozaki is about 1 to {} products, not {}", max_slice_products, products));
  Op op = op_of(unit, {});
  op.k = products;
  return op;
}

void must_be_fused(const std::string& unit, const Subject& u, const Op& op) {
  if (!traits_of(u.model()).is_fused_sum() || op.scales() > 0)
    throw BadInput("prove ozaki is about fused sums without scales; " + unit + " is none");
}

}  // namespace

SliceWidths derived_widths(const std::string& unit, int products) {
  const Op op = dot_of(unit, products);
  const Subject u = subject(unit, op);
  const int digits = std::min(digit_bits(op.a.fields()), digit_bits(op.b.fields()));
  return slice_widths(products, gemm::exact_integer_bits(op, *u.unit), digits);
}

Reply ask_exact_slices(Solvers& solvers, const std::string& unit, SliceWidths widths, int products,
                       const InquiryOptions& options) {
  const Op op = dot_of(unit, products);
  const Subject u = subject(unit, op);
  must_be_fused(unit, u, op);
  for (const auto& [width, format] : {std::pair{widths.a, op.a}, std::pair{widths.b, op.b}})
    if (width < 1 || width > digit_bits(format.fields()))
      throw BadInput(
          fmt::format("{} holds digits of 1 to {} bits, not of {}", format.name(), digit_bits(format.fields()), width));
  const std::string text = fmt::format("sums of {} of digits of {} and {} bits are exact on {}",
                                       counted(size_t(products), "product"), widths.a, widths.b, unit);
  const Magnitudes most{(int64_t{1} << widths.a) - 1, (int64_t{1} << widths.b) - 1};
  Reply f = ask_in_lemmas(solvers, exact_sums_question(op, u.model(), most), text, op, true, options);
  if (f.proof.outcome != Outcome::witness) return f;
  const std::string result = result_of(*u.unit, f.witness);
  f.results = {result + " " + unit};
  if (is_exact_sum(f.witness, std::stoull(result, nullptr, 16))) refuse_witness(f);
  return f;
}

ResidueSums ask_residue_sums(Solvers& solvers, const std::string& unit, const InquiryOptions& options) {
  const Op op = unit == "integer" ? gemm::residue_dot({.narrow = format("s8")}) : op_of(unit, options);
  const std::unique_ptr<Unit> bound = bind_or_fail(unit, op);
  if (unit != "integer" && (op.a != format("e4m3") || op.b != op.a))
    throw BadInput("residues are multiplied in s8 on the unit 'integer', or as digits in e4m3, not on " + unit);
  const int64_t magnitude = gemm::greatest_residue_factor(op.a);
  ResidueSums found;
  found.products = gemm::exact_residue_products(op, *bound);
  const auto statement = [&](int64_t products) {
    return fmt::format("sums of {} of integers of at most {} are exact on {}", counted(size_t(products), "product"),
                       magnitude, unit);
  };
  if (op.a.fields().integer) {
    found.enough = {.question = statement(found.products), .op = op};
    found.enough.proof.outcome = Outcome::proven;
    found.enough.argument =
        fmt::format("Every sum is an integer of at most {} * {}^2 = {}, and s32 holds those up to {}.", found.products,
                    magnitude, found.products * magnitude * magnitude, (int64_t{1} << 31) - 1);
  } else {
    Op all = op;
    all.k = static_cast<int>(found.products);
    const Subject u = subject(unit, op);
    must_be_fused(unit, u, op);
    PropertyQuestion asked = exact_sums_question(all, u.model(), {magnitude, magnitude});
    asked.whole = nullptr;  // of so many products a query holds gigabytes
    found.enough = ask_in_lemmas(solvers, asked, statement(found.products), all, true, options);
  }
  // The unit's dots are chained over found.products greatest products, then over one more: the least square of a factor
  // with which the sum is not exact.
  Batch one(op, 1);
  const FormatFields& f = op.a.fields();
  const auto code = [&](int64_t x) {
    return f.integer ? static_cast<uint64_t>(x) & f.container_mask()
                     : round_once(f, x < 0, static_cast<uint64_t>(std::abs(x)), 0).encoding;
  };
  Outcomes outcomes;
  const int64_t greatest = f.integer ? -magnitude : magnitude;  // s8 has -128, but not 128
  const auto run = [&](int64_t count, int64_t factor) {
    for (int i = 0; i < op.k; ++i)
      for (const size_t side : {size_t{0}, size_t{1}}) one.inputs()[side].set(0, i, code(i < count ? factor : 0));
    bound->run(one, outcomes);
    return is_exact_sum(one, outcomes.results.get(0));
  };
  bool exact = true;
  for (int64_t done = 0; done < found.products && exact; done += op.k) {
    exact = run(std::min<int64_t>(op.k, found.products - done), greatest);
    one.inputs()[2].set(0, 0, outcomes.results.get(0));
  }
  if (!exact) throw Contradiction("the unit does not sum " + std::to_string(found.products) + " products exactly");
  found.one_more = {.question = statement(found.products + 1), .op = op};
  for (int64_t factor = 1; factor <= magnitude; ++factor) {
    if (run(1, factor == magnitude ? greatest : factor)) continue;
    found.one_more.proof.outcome = Outcome::witness;
    found.one_more.witness = one;
    found.one_more.results = {
        fmt::format("{} {}; the sum is {}", to_hex(op.d, outcomes.results.get(0)), unit, exact_sum(one))};
    break;
  }
  return found;
}

std::vector<ResidueIntegers> residue_integers(const std::string& narrow) {
  using boost::multiprecision::cpp_int;
  std::vector<ResidueIntegers> found;
  for (int moduli = 2; moduli <= 20; ++moduli) {
    const auto unit = bind_or_fail("ozaki2:dgemm." + narrow + "?moduli=" + std::to_string(moduli),
                                   op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1"));
    const gemm::ResidueGemm& scheme = *gemm::residues_of(*unit);
    cpp_int product = 1;
    for (const int p : scheme.moduli()) product *= p;
    const cpp_int missing = product / 2 - cpp_int(scheme.greatest_integer());
    const auto bits = [](const cpp_int& x) { return std::log2(static_cast<double>(x)); };
    found.push_back({moduli, bits(product), bits(missing), scheme.finds_all_integers()});
  }
  return found;
}

}  // namespace mmafuzz::prove
