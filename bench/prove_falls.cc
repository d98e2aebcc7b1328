#include "bench/prove_tables.h"

#include <fmt/core.h>

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "bench/bench.h"
#include "core/case_text.h"
#include "core/ulps.h"
#include "oracles/models/model_rows.h"
#include "prove/inquiry.h"
#include "search/mutator.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

/// What is proven of one block of a row: the least number of products with which a greater c can lower the result, and
/// the greatest such fall, in ulps of the result.
struct ProvenFall {
  const char* row;
  int products;
  int64_t ulps;
};

constexpr ProvenFall falls[] = {
    {"volta/mma.m8n8k4.f32.f16.f16.f32", 3, 1},      {"turing/mma.m16n8k8.f32.f16.f16.f32", 4, 2},
    {"ampere/mma.m16n8k16.f32.f16.f16.f32", 4, 2},   {"ampere/mma.m16n8k16.f32.bf16.bf16.f32", 4, 2},
    {"ampere/mma.m16n8k8.f32.tf32.tf32.f32", 4, 1},  {"hopper/mma.m16n8k16.f32.f16.f16.f32", 6, 2},
    {"hopper/mma.m16n8k16.f32.bf16.bf16.f32", 6, 2}, {"hopper/mma.m16n8k8.f32.tf32.tf32.f32", 6, 1},
    {"ada/mma.m16n8k32.f32.e4m3.e4m3.f32", 3, 7},
};

/// Calls check(fall) for each row whose name contains `units`; whether all calls returned true.
template <class Check>
bool check_each(const std::string& units, const Check& check) {
  bool right = true;
  for (const ProvenFall& fall : falls)
    if (std::string_view(fall.row).find(units) != std::string_view::npos) right &= check(fall);
  return right;
}

/// Draws a case where falls occur: c just below a power of two, and positive products of about the weight of the last
/// bit that the sum keeps. From that power on, the last bit weighs twice as much, and the products are cut off. One
/// product has an arbitrary factor.
void draw_near_fall(const DotModel& m, Batch& batch, size_t index, CounterRng& rng) {
  const Op& op = batch.op();
  Column &a = batch.inputs()[0], &b = batch.inputs()[1], &c = batch.inputs()[2];
  const auto power = [](const FormatFields& f, int exponent) {
    return encode_near(f, false, std::clamp(exponent, f.emin() - f.fraction_bits, int(f.bias)), 0);
  };
  const auto low_fraction_bits = [&](const FormatFields& f) {
    return rng.one_in(2) ? 0 : (rng.next() & low_mask(rng.between(0, f.fraction_bits))) << f.ignored_low_bits;
  };
  const int ea = rng.between(m.a.emin() - m.a.fraction_bits, 0), eb = rng.between(m.b.emin() - m.b.fraction_bits, 0);
  const int above_c = ea + eb + m.fraction_bits + 1;
  c.set(index, 0, power(m.c, above_c) - 1 - (rng.one_in(4) ? rng.next() & 7 : 0));
  const int arbitrary = rng.between(0, op.k - 1);
  for (int i = 0; i < op.k; ++i) {
    a.set(index, i, power(m.a, ea) | low_fraction_bits(m.a));
    b.set(index, i, i == arbitrary ? rng.next() & low_mask(m.b.width) : power(m.b, eb) | low_fraction_bits(m.b));
  }
}

}  // namespace

bool print_falls(prove::Solvers& solvers, const std::string& units, double seconds) {
  fmt::print("| unit | least number of products | s | most ulps, in one block | s |\n|---|---|---|---|---|\n");
  return check_each(units, [&](const ProvenFall& fall) {
    prove::InquiryOptions options;
    options.proof.seconds = seconds;
    const prove::Monotony found =
        prove::ask_monotony(solvers, std::string("model:") + fall.row, options, [](const prove::Reply&) {});
    const auto proven = [](bool knows, int64_t n) { return knows ? std::to_string(n) : "not proven"; };
    fmt::print("| `{}` | {} | {:.0f} | {} | {:.0f} |\n", fall.row, proven(found.knows_products, found.products),
               found.no_fall_with_fewer.proof.seconds, proven(found.knows_ulps, found.ulps),
               found.no_greater_fall.proof.seconds);
    std::fflush(stdout);
    return found.knows_products && found.knows_ulps && found.products == fall.products && found.ulps == fall.ulps;
  });
}

bool attack_falls(const std::string& units, uint64_t cases) {
  fmt::print(
      "| unit | most ulps, proven | greatest fall found | its cases | first such case |\n|---|---|---|---|---|\n");
  return check_each(units, [&](const ProvenFall& fall) {
    const ModelRow& row = *find_model_row(fall.row);
    const DotModel& m = row.model;
    Op op = row.op;
    op.k = m.block;
    const auto unit = bind_or_fail(std::string("model:") + fall.row, op);
    const Mutator mutator(op, corner_hints(&m));
    constexpr size_t size = 4096;
    Batch base, changed;
    Batch best(op, 1);
    Outcomes before, after;
    int64_t greatest = 0;
    uint64_t cases_with_it = 0;
    std::string first = "none";
    for (uint64_t done = 0; done < cases; done += size) {
      const size_t count = static_cast<size_t>(std::min<uint64_t>(size, cases - done));
      StructuredGenerator(op, 1).fill(done, count, base);
      for (size_t i = 0; i < count; ++i) {
        CounterRng rng(done + i, 1);
        switch (rng.between(0, 3)) {
          case 0: break;  // as the generator drew it
          case 1: draw_near_fall(m, base, i, rng); break;
          case 2:
            if (greatest > 0) copy_case(best, 0, base, i);
            [[fallthrough]];
          default: mutator.mutate(base, i, rng);
        }
      }
      changed = base;
      const auto rises = [&](uint64_t c) { return c > 0 && c < m.c.encode_infinity(false) - 1; };
      for (size_t i = 0; i < count; ++i)
        if (const uint64_t c = base.c().get(i); rises(c)) changed.inputs()[2].set(i, 0, c + 1);
      unit->run(base, before);
      unit->run(changed, after);
      for (size_t i = 0; i < count; ++i) {
        const uint64_t x = before.results.get(i), y = after.results.get(i);
        const uint64_t infinity = m.d.encode_infinity(false);  // smaller encodings are those of +0 and finite x > 0
        const bool bound_holds = rises(base.c().get(i)) && x < infinity && y < infinity && y >= changed.c().get(i);
        if (!bound_holds || y >= x) continue;
        const auto ulps = static_cast<int64_t>((x - y) >> (m.d.fraction_bits - m.output_fraction_bits));
        if (ulps == greatest) ++cases_with_it;
        if (ulps <= greatest) continue;
        greatest = ulps;
        cases_with_it = 1;
        first = case_line(base, i);
        copy_case(base, i, best, 0);
      }
    }
    fmt::print("| `{}` | {} | {} | {} | `{}` |\n", fall.row, fall.ulps, greatest, cases_with_it, first);
    std::fflush(stdout);
    return greatest <= fall.ulps;
  });
}

}  // namespace mmafuzz
