// mmafuzz bench ozaki, ozaki-accuracy and ozaki-estimate: the Ozaki scheme on random matrices of a chosen spread, its
// time and its error against the exact product (Mukunoki et al. 2020, section 5: elements (uniform - 0.5) * exp(phi *
// normal)).
#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "arithmetic/counter_rng.h"
#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "core/parallel.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/ozaki_unit.h"

namespace mmafuzz {
namespace {

using gemm::OzakiGemm;
using gemm::Shape;

constexpr int64_t bytes_per_element = 8 * 16;  ///< an fp64 number and room for its slices

/// Uniform in the open interval from 0 to 1.
double uniform(CounterRng& rng) { return (double(rng.next() >> 12) + 0.5) * 0x1p-52; }

/// fp64 encodings of (uniform - 0.5) * exp(phi * normal).
std::vector<uint64_t> random_matrix(int64_t elements, double phi, uint64_t seed) {
  CounterRng rng(seed, 0);
  std::vector<uint64_t> matrix(static_cast<size_t>(elements));
  for (uint64_t& x : matrix) {
    const double radius = std::sqrt(-2 * std::log(uniform(rng)));
    const double normal = radius * std::cos(2 * 3.14159265358979323846 * uniform(rng));
    x = std::bit_cast<uint64_t>((uniform(rng) - 0.5) * std::exp(phi * normal));
  }
  return matrix;
}

Op dgemm_op() { return op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1"); }

/// The exact values of about `most` elements of a product, evenly spread over it.
class ExactElements {
 public:
  ExactElements(const Shape& s, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, size_t most) {
    const Op op = dgemm_op();
    const auto elements = static_cast<size_t>(s.m * s.n);
    std::vector<uint64_t> row(static_cast<size_t>(s.k)), column(static_cast<size_t>(s.k));
    step_ = std::max<size_t>(1, elements / most) | 1;
    for (size_t element = 0; element < elements; element += step_) {
      const auto i = static_cast<int64_t>(element) / s.n, j = static_cast<int64_t>(element) % s.n;
      for (int64_t l = 0; l < s.k; ++l) {
        row[size_t(l)] = a[size_t(i * s.k + l)];
        column[size_t(l)] = b[size_t(l * s.n + j)];
      }
      gemm::element_value(op, {row, column, 0}, sums_.emplace_back(gemm::element_precision).get());
    }
  }

  /// The maximum of |d - exact| / |exact| over these elements, without those that are exactly zero.
  double greatest_relative_error(const std::vector<uint64_t>& d) const {
    const Format fp64 = dgemm_op().d;
    exact::Mpfr value(64), error(gemm::element_precision);
    double greatest = 0;
    for (size_t e = 0; e < sums_.size(); ++e) {
      if (mpfr_zero_p(sums_[e].get())) continue;
      exact::set_from_encoding(value.get(), fp64, d[e * step_]);
      mpfr_sub(error.get(), value.get(), sums_[e].get(), MPFR_RNDN);
      mpfr_div(error.get(), error.get(), sums_[e].get(), MPFR_RNDN);
      greatest = std::max(greatest, std::fabs(mpfr_get_d(error.get(), MPFR_RNDN)));
    }
    return greatest;
  }

 private:
  std::vector<exact::Mpfr> sums_;
  size_t step_;
};

/// The product, each element by a chain of fused multiply-adds in index order.
std::vector<uint64_t> fma_chain(const Shape& s, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  const auto n = static_cast<size_t>(s.n), k = static_cast<size_t>(s.k);
  std::vector<uint64_t> d(static_cast<size_t>(s.m) * n);
  for (size_t element = 0; element < d.size(); ++element) {
    double sum = 0;
    const uint64_t *row = &a[element / n * k], *column = &b[element % n];
    for (size_t l = 0; l < k; ++l)
      sum = std::fma(std::bit_cast<double>(row[l]), std::bit_cast<double>(column[l * n]), sum);
    d[element] = std::bit_cast<uint64_t>(sum);
  }
  return d;
}

gemm::NamedPlan plan_or_fail(const std::string& slice, const std::string& parameters) {
  const std::vector<std::string>& known = gemm::ozaki_slices();
  if (std::find(known.begin(), known.end(), slice) == known.end())
    throw BadInput("no slices of format '" + slice + "'");
  Result<gemm::NamedPlan> plan = gemm::parse_ozaki_plan(slice, parameters);
  if (!plan) throw BadInput(plan.refusal().reason);
  return *plan;
}

OzakiGemm engine_or_fail(const gemm::NamedPlan& plan, int64_t k) {
  Result<OzakiGemm> engine = gemm::make_ozaki(plan, dgemm_op(), k, registry());
  if (!engine) throw BadInput(engine.refusal().reason);
  return std::move(*engine);
}

struct OzakiOptions {
  int64_t m = 256, n = 256, k = 256;
  int threads = static_cast<int>(hardware_threads());
  std::string slice = "fp16", plan = "slices=5";
  double phi = 0.1;
  uint64_t seed = 1;
  MeasuredRows rows;
};

int run_speed(OzakiOptions& o) {
  const Result<Shape> shape = gemm::checked_shape({o.m, o.k}, {o.k, o.n}, {o.m, o.n}, bytes_per_element);
  if (!shape) throw BadInput("bench ozaki: " + shape.refusal().reason);
  gemm::NamedPlan plan = plan_or_fail(o.slice, o.plan);
  plan.plan.threads = o.threads;
  const OzakiGemm engine = engine_or_fail(plan, o.k);
  const std::vector<uint64_t> a = random_matrix(o.m * o.k, o.phi, o.seed),
                              b = random_matrix(o.k * o.n, o.phi, o.seed + 1), c(static_cast<size_t>(o.m * o.n), 0);
  gemm::OzakiRecord record;
  const double start = wall_seconds();
  const std::vector<uint64_t> d = engine.multiply(*shape, a.data(), b.data(), c.data(), &record);
  const double seconds = wall_seconds() - start;
  const double flops = 2 * double(o.m) * double(o.n) * double(o.k) / seconds;
  const double error = ExactElements(*shape, a, b, 1024).greatest_relative_error(d);
  o.rows.say(fmt::format("{}x{}x{} on {}, {} threads: widths {} and {}, slices {} and {}, {} slice products", o.m, o.n,
                         o.k, plan.dot_unit, o.threads, record.widths.a, record.widths.b, record.slices_a,
                         record.slices_b, record.slice_products));
  o.rows.add(
      {{"unit", plan.dot_unit},
       {"m", o.m},
       {"n", o.n},
       {"k", o.k},
       {"threads", o.threads},
       {"widths", {record.widths.a, record.widths.b}},
       {"slices", {record.slices_a, record.slices_b}},
       {"slice_products", record.slice_products},
       {"seconds", seconds},
       {"flops_per_second", flops},
       {"greatest_relative_error", error}},
      fmt::format("{:.3f} s, {:.3f} GFLOP/s of DGEMM, greatest relative error {:.3g}", seconds, 1e-9 * flops, error));
  o.rows.end();
  return exit_ok;
}

/// Prints a line for each spread phi: the greatest relative error of each plan and of the FMA chain, then the numbers
/// of slices of the plans `estimated` and `all`.
int run_accuracy(const OzakiOptions& o) {
  std::vector<std::string> plans;
  for (const char* fast : {"0", "1"})
    for (const char* slices : {"2", "3", "4", "5", "6", "7", "8", "10", "12", "estimated", "all"})
      plans.push_back(std::string("slices=") + slices + ",fast=" + fast);
  fmt::print(
      "# {}x{}x{}, elements (uniform - 0.5) * exp(phi * normal), slices of {}: phi, then greatest relative errors\nphi",
      o.m, o.n, o.k, o.slice);
  for (const std::string& plan : plans) fmt::print("\t{}", plan);
  fmt::print("\tieee:fma\tslices of estimated\tslices of all\n");
  const Result<Shape> shape = gemm::checked_shape({o.m, o.k}, {o.k, o.n}, {o.m, o.n}, bytes_per_element);
  if (!shape) throw BadInput("bench ozaki-accuracy: " + shape.refusal().reason);
  for (int step = 0; step <= 16; ++step) {
    const double phi = 0.25 * step;
    const std::vector<uint64_t> a = random_matrix(o.m * o.k, phi, o.seed),
                                b = random_matrix(o.k * o.n, phi, o.seed + 1), c(static_cast<size_t>(o.m * o.n), 0);
    const ExactElements exact(*shape, a, b, 2048);
    fmt::print("{}", phi);
    int estimated = 0, all = 0;
    for (const std::string& text : plans) {
      gemm::NamedPlan plan = plan_or_fail(o.slice, text);
      plan.plan.threads = o.threads;
      gemm::OzakiRecord record;
      const std::vector<uint64_t> d = engine_or_fail(plan, o.k).multiply(*shape, a.data(), b.data(), c.data(), &record);
      if (plan.plan.slices == gemm::estimated_slices) estimated = record.slices_a;
      if (plan.plan.slices == gemm::all_slices) all = record.slices_a;
      fmt::print("\t{:.3e}", exact.greatest_relative_error(d));
    }
    fmt::print("\t{:.3e}\t{}\t{}\n", exact.greatest_relative_error(fma_chain(*shape, a, b)), estimated, all);
    std::fflush(stdout);
  }
  return exit_ok;
}

/// Prints a table of the errors with the estimated number of slices d and with d - 1, in full and in fast mode, in
/// multiples of the error of an FMA chain.
int run_estimate(const OzakiOptions& o) {
  fmt::print("| k | phi | error of the FMA chain | d | d slices | fast | d - 1 slices | fast |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (const int64_t k : {128, 1024, 4096}) {
    const Result<Shape> shape = gemm::checked_shape({o.m, k}, {k, o.n}, {o.m, o.n}, bytes_per_element);
    if (!shape) throw BadInput("bench ozaki-estimate: " + shape.refusal().reason);
    for (const double phi : {0.5, 1.0, 2.0, 4.0}) {
      const std::vector<uint64_t> a = random_matrix(o.m * k, phi, o.seed), b = random_matrix(k * o.n, phi, o.seed + 1);
      const std::vector<uint64_t> c(static_cast<size_t>(o.m * o.n), 0);
      const ExactElements exact(*shape, a, b, 2048);
      const double chain_error = exact.greatest_relative_error(fma_chain(*shape, a, b));
      gemm::NamedPlan plan = plan_or_fail(o.slice, "slices=estimated");
      const OzakiGemm engine = engine_or_fail(plan, k);
      const int d = engine.describe(*shape, a.data(), b.data()).record.wanted_slices;
      fmt::print("| {} | {} | {:.1e} | {} |", k, phi, chain_error, d);
      for (const int slices : {d, d - 1})
        for (const bool fast : {false, true}) {
          plan.plan.slices = slices;
          plan.plan.fast = fast;
          plan.plan.threads = o.threads;
          const std::vector<uint64_t> result = engine_or_fail(plan, k).multiply(*shape, a.data(), b.data(), c.data());
          fmt::print(" {:.2g} |", exact.greatest_relative_error(result) / chain_error);
        }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  return exit_ok;
}

/// `k` is nullptr where a command has its own.
void add_options(Arguments& sub, OzakiOptions& o, int64_t* k) {
  sub.add_option("-m", o.m, "rows of a")->capture_default_str();
  sub.add_option("-n", o.n, "columns of b")->capture_default_str();
  if (k) sub.add_option("-k", *k, "columns of a")->capture_default_str();
  sub.add_option("--slice", o.slice, "format of the slices: fp16, bf16, tf32, e4m3, s8")->capture_default_str();
  sub.add_option("--threads", o.threads, "threads (default: all cores)")->check(in_range(1, 64));
  sub.add_option("--seed", o.seed, "seed of the matrices")->check(unsigned_number());
}

}  // namespace

void add_bench_ozaki(Arguments& bench, int& status) {
  auto options = std::make_shared<OzakiOptions>();
  Arguments* speed = bench.add_subcommand("ozaki", "Time and error of an Ozaki DGEMM on a dot unit");
  add_options(*speed, *options, &options->k);
  speed->add_option("--plan", options->plan, "parameters of ozaki:dgemm, `on=` last")->capture_default_str();
  speed->add_option("--phi", options->phi, "spread of the elements")->check(in_range(0.0, 50.0))->capture_default_str();
  options->rows.add_json_flag(*speed);
  speed->footer(
      "Example: mmafuzz bench ozaki -m 256 -n 256 -k 256 --plan slices=5,on=model:ampere/mma.m16n8k16.f32.f16.f16.f32");
  speed->callback([options, &status] { status = run_speed(*options); });

  auto small = std::make_shared<OzakiOptions>();
  small->m = small->n = 32;
  small->k = 128;
  Arguments* accuracy = bench.add_subcommand(
      "ozaki-accuracy", "Errors of Ozaki DGEMM against the spread of the inputs, as tab-separated values");
  add_options(*accuracy, *small, &small->k);
  accuracy->footer("Example: mmafuzz bench ozaki-accuracy > accuracy.tsv (bench/plot_ozaki_accuracy.py draws it)");
  accuracy->callback([small, &status] { status = run_accuracy(*small); });

  auto estimate_options = std::make_shared<OzakiOptions>(*small);
  Arguments* estimate = bench.add_subcommand(
      "ozaki-estimate", "Errors with the estimated number of slices and with one less, as a table");
  add_options(*estimate, *estimate_options, nullptr);
  estimate->footer("Example: mmafuzz bench ozaki-estimate --seed 3");
  estimate->callback([estimate_options, &status] { status = run_estimate(*estimate_options); });
}

}  // namespace mmafuzz
