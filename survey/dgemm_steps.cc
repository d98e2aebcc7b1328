// FP64 products of large matrices: rates and errors of native, emulated and our own arithmetic in one run, and whether
// the bits of our own are the oracle's.
#include <bit>
#include <cmath>

#include "core/op.h"
#include "gpu_bridge/dgemm/drawn_matrix.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/gemm/ozaki_unit.h"
#include "survey/survey.h"

namespace mmafuzz::survey {
namespace {

constexpr int samples = 64;  ///< elements of each product whose errors are computed
constexpr double phi = 0.1;  ///< spread of the matrices' magnitudes (Mukunoki et al. 2020, section 5)

Op dgemm_op() { return *parse_op("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1"); }

/// One way to compute the product.
struct Way {
  std::string name, unit;  ///< unit: cuBLAS's, by which options.units select the way
  DgemmRequest request;
  gemm::NamedPlan oracle;  ///< of an Ozaki scheme: the same plan on an exact dot unit

  bool is_sliced() const { return request.slices.count > 0; }
  bool is_emulated() const {
    return !is_sliced() && cublas_rows()[size_t(request.row)].arithmetic == CublasRow::Arithmetic::emulated;
  }
};

/// All ways for an n. Ozaki schemes come with slices that hold 53 bits, and with one slice more: what lies below the
/// first ones counts where magnitudes spread.
std::vector<Way> ways_of(const DgemmRequest& common) {
  const auto by_row = [&](const char* row, Way way) {
    way.unit = std::string("cublas:") + row;
    way.request = common;
    way.request.row = find_cublas_row(row);
    return way;
  };
  std::vector<Way> ways = {by_row("dgemm", {"cublas:dgemm", "", {}, {}}),
                           by_row("dgemm.emulated", {"cublas:dgemm.emulated", "", {}, {}})};
  struct Scheme {
    const char *slice, *row, *exact_dots;
  };
  for (const Scheme& scheme : {Scheme{"fp16", "gemmex.fp16", "ieee:fma"}, Scheme{"s8", "gemmex.s8", "integer"}}) {
    Way way = by_row(scheme.row, {});
    OzakiSlices& slices = way.request.slices;
    slices.widths = widest_slices(cublas_rows()[size_t(way.request.row)], common.n);
    slices.count = (53 + slices.widths.b - 1) / slices.widths.b;
    for (int more = 0; more < 2; ++more, ++slices.count) {
      const std::string plan = "slices=" + std::to_string(slices.count) + ",fast=1,on=";
      way.name = std::string("ozaki:dgemm.") + scheme.slice + "?" + plan + way.unit;
      way.oracle = *gemm::parse_ozaki_plan(scheme.slice, plan + scheme.exact_dots);
      ways.push_back(way);
    }
  }
  return ways;
}

/// The sampled elements, computed by the oracles.
class SampledElements {
 public:
  explicit SampledElements(const DgemmRequest& request) {
    for (int s = 0; s < samples; ++s) {
      const Cell cell = sampled_cell(request, s);
      std::vector<uint64_t>&row = rows_.emplace_back(), &column = columns_.emplace_back();
      const auto n = static_cast<uint64_t>(request.n);
      for (uint64_t l = 0; l < n; ++l) {
        row.push_back(drawn_element(seed_of_a(request), uint64_t(cell.row) * n + l, request.spread));
        column.push_back(drawn_element(seed_of_b(request), uint64_t(cell.column) * n + l, request.spread));
      }
      gemm::element_value(dgemm_op(), {row, column, 0}, exact_.emplace_back(gemm::element_precision).get());
      Scale& scale = scales_.emplace_back();
      scale.top = greatest_top(row) + greatest_top(column);
      std::vector<uint64_t> row_magnitudes = row, column_magnitudes = column;
      for (std::vector<uint64_t>* all : {&row_magnitudes, &column_magnitudes})
        for (uint64_t& x : *all) x &= low_mask(63);  // without its sign
      gemm::element_value(dgemm_op(), {row_magnitudes, column_magnitudes, 0}, scale.magnitude.get());
    }
  }

  /// The elements that are no numbers or farther from the exact ones than this:
  /// - fp64 arithmetic: n u / (1 - n u) sum |a| |b|, u = 2^-53, which holds for any order of summation, with fused
  ///   multiplications or without (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1);
  /// - cuBLAS's fixed point, for which no bound is published: besides the above n 2^(top of a's row + top of b's
  ///   column) 2^-(bits - 8), tops as top_of: a whole slice of 8 bits more than is asked for. Operands cut to `bits`
  ///   bits, a sign among them, and least products of slices left out make up some n 2^(tops) 2^-(bits - 3).
  std::vector<size_t> beyond_bound(const Way& way, const std::vector<uint64_t>& d) const {
    const Format fp64 = dgemm_op().d;
    const double nu = way.request.n * 0x1p-53;
    std::vector<size_t> beyond;
    exact::Mpfr value(64), error(gemm::element_precision), bound(64), fixed(64);
    for (size_t s = 0; s < d.size(); ++s) {
      exact::set_from_encoding(value.get(), fp64, d[s]);
      mpfr_sub(error.get(), value.get(), exact_[s].get(), MPFR_RNDN);
      mpfr_mul_d(bound.get(), scales_[s].magnitude.get(), nu / (1 - nu), MPFR_RNDU);
      if (way.is_emulated()) {
        mpfr_set_ui_2exp(fixed.get(), static_cast<unsigned long>(way.request.n), scales_[s].top - way.request.bits + 8,
                         MPFR_RNDU);
        mpfr_add(bound.get(), bound.get(), fixed.get(), MPFR_RNDU);
      }
      if (!mpfr_number_p(value.get()) || mpfr_cmpabs(error.get(), bound.get()) > 0) beyond.push_back(s);
    }
    return beyond;
  }

  /// "0123456789abcdef, exact 3ff0000000000000 after rounding".
  std::string beside_exact(size_t s, uint64_t d) const {
    const Format fp64 = dgemm_op().d;
    const double nearest = mpfr_get_d(exact_[s].get(), MPFR_RNDN);
    return to_hex(fp64, d) + ", exact " + to_hex(fp64, std::bit_cast<uint64_t>(nearest)) + " after rounding";
  }

  /// Greatest |d - exact| / |exact|; infinite where an element is infinite or NaN.
  double greatest_relative_error(const std::vector<uint64_t>& d) const {
    const Format fp64 = dgemm_op().d;
    exact::Mpfr value(64), error(gemm::element_precision);
    double greatest = 0;
    for (size_t s = 0; s < d.size(); ++s) {
      exact::set_from_encoding(value.get(), fp64, d[s]);
      mpfr_sub(error.get(), value.get(), exact_[s].get(), MPFR_RNDN);
      mpfr_div(error.get(), error.get(), exact_[s].get(), MPFR_RNDN);
      const double relative = std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
      greatest = std::isnan(relative) ? HUGE_VAL : std::max(greatest, relative);
    }
    return greatest;
  }

  /// How many sampled elements differ from the plan's own, each computed as a product of one row and one column.
  uint64_t differ_from(const gemm::NamedPlan& plan, const Registry& registry, const std::vector<uint64_t>& d) const {
    const auto k = static_cast<int64_t>(rows_[0].size());
    const Result<gemm::OzakiGemm> engine = gemm::make_ozaki(plan, dgemm_op(), k, registry);
    if (!engine) throw std::runtime_error(engine.refusal().reason);
    const uint64_t c = 0;
    uint64_t differs = 0;
    for (size_t s = 0; s < d.size(); ++s)
      differs += engine->multiply({1, 1, k}, rows_[s].data(), columns_[s].data(), &c)[0] != d[s];
    return differs;
  }

 private:
  /// The magnitudes by which the error bound of an element is computed.
  struct Scale {
    exact::Mpfr magnitude{gemm::element_precision};  ///< sum |a| |b|
    int top = 0;                                     ///< top of a's row plus top of b's column
  };
  static int greatest_top(const std::vector<uint64_t>& vector) {
    int32_t top = top_of_zero;
    for (const uint64_t x : vector) top = std::max(top, top_of(x));
    return top;
  }

  std::vector<std::vector<uint64_t>> rows_, columns_;
  std::vector<exact::Mpfr> exact_;
  std::vector<Scale> scales_;
};

void check_bound(Context& context, const Way& way, const SampledElements& elements, const std::vector<uint64_t>& d,
                 Json& row) {
  const std::vector<size_t> beyond = elements.beyond_bound(way, d);
  row["beyond"] = beyond.size();
  if (beyond.empty()) return;
  const Cell first = sampled_cell(way.request, static_cast<int>(beyond[0]));
  context.book.note_finding("divergence", "FP64 products", way.name,
                            std::to_string(beyond.size()) + " of " + std::to_string(d.size()) +
                                " elements of n = " + std::to_string(way.request.n) +
                                (way.is_emulated() ? " are no numbers or beyond a generous bound of fixed point"
                                                   : " are no numbers or beyond the bound of any order of summation") +
                                "; at row " + std::to_string(first.row) + ", column " + std::to_string(first.column) +
                                ": " + elements.beside_exact(beyond[0], d[beyond[0]]));
}

void multiply_every_way(Context& context, const std::vector<Way>& ways, Json& result, Clock::time_point deadline) {
  result["rows"] = Json::array();
  const SampledElements elements(ways[0].request);
  const double n = ways[0].request.n;
  double native_seconds = 0;
  std::vector<uint64_t> native;
  for (size_t i = 0; i < ways.size(); ++i) {
    const Way& way = ways[i];
    const double left = seconds_until(deadline);
    if (left <= 0) throw OutOfTime("before " + way.name);
    DgemmRequest request = way.request;
    request.seconds = left / double(ways.size() - i) / 4;  // the first run, profile and check take time, too
    const Result<DgemmAnswer> answer = context.child->dgemm(request);
    Json row = {{"arithmetic", way.name}};
    if (!answer) {
      row["status"] = "declined";
      row["why"] = answer.refusal().reason;
      result["rows"].push_back(std::move(row));
      continue;
    }
    const DgemmTimes& times = answer->times;
    row["status"] = "done";
    row["seconds"] = times.median;
    row["least"] = times.least;
    row["runs"] = times.runs;
    row["tflops"] = 2 * n * n * n / times.median / 1e12;
    const double error = elements.greatest_relative_error(answer->sampled);
    if (std::isfinite(error)) row["error"] = error;
    if (!way.is_sliced()) check_bound(context, way, elements, answer->sampled, row);
    if (way.name == "cublas:dgemm") {
      native_seconds = times.median;
      native = answer->sampled;
    }
    if (native_seconds > 0) row["times_native"] = native_seconds / times.median;
    if (way.name == "cublas:dgemm.emulated" && answer->sampled == native)
      row["why"] = "the results of native arithmetic: cuBLAS did not emulate";
    if (way.is_sliced()) {
      row["split"] = times.split;
      row["products"] = times.products;
      row["sums"] = times.sums;
      const uint64_t differs = elements.differ_from(way.oracle, context.registry, answer->sampled);
      row["differs"] = differs;
      if (differs)
        context.book.note_finding("divergence", "FP64 products", way.name,
                                  std::to_string(differs) + " of " + std::to_string(samples) + " elements of n = " +
                                      std::to_string(request.n) + " differ from the same plan in the oracles");
    }
    result["rows"].push_back(std::move(row));
  }
}

}  // namespace

std::vector<Step> dgemm_steps(Context& context) {
  std::vector<Step> steps;
  for (const uint64_t size : context.options.sizes) {
    const int n = static_cast<int>(size);
    DgemmRequest common;
    common.n = n;
    common.seed = context.options.seed;
    common.spread = spread_of(phi);
    common.samples = samples;
    std::vector<Way> ways = ways_of(common);
    std::erase_if(ways, [&](const Way& way) { return !selected(context, way.unit); });
    if (ways.empty()) continue;
    steps.push_back({"FP64 products", "dgemm", "n = " + std::to_string(n),
                     context.scaled(n > 4096 ? 25 : 8),  // the work grows with n^3
                     [&context, n, ways](Json& result, Clock::time_point deadline) {
                       result["n"] = n;
                       multiply_every_way(context, ways, result, deadline);
                     }});
  }
  return steps;
}

}  // namespace mmafuzz::survey
