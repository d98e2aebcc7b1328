// mmafuzz bench ozaki-widths: the widths of slices that each unit sums exactly, checked from both sides: at the derived
// width a search finds no inexact slice product, at one bit more it finds a witness. docs/notes/2026-11-22-ozaki.md
// holds this command's output.
#include <fmt/core.h>

#include <algorithm>

#include "arithmetic/counter_rng.h"
#include "bench/bench.h"
#include "core/replace_file.h"
#include "core/case_text.h"
#include "core/text.h"
#include "oracles/gemm/ozaki_unit.h"

namespace mmafuzz {
namespace {

struct Accumulator {
  const char* unit;
  const char* slice;
  const char* on;
};
const Accumulator accumulators[] = {{"Volta fp16", "fp16", "model:volta/mma.m8n8k4.f32.f16.f16.f32"},
                                    {"Turing fp16", "fp16", "model:turing/mma.m16n8k8.f32.f16.f16.f32"},
                                    {"Ampere fp16", "fp16", "model:ampere/mma.m16n8k16.f32.f16.f16.f32"},
                                    {"Ada fp16", "fp16", "model:ada/mma.m16n8k16.f32.f16.f16.f32"},
                                    {"Hopper fp16", "fp16", "model:hopper/mma.m16n8k16.f32.f16.f16.f32"},
                                    {"Blackwell fp16", "fp16", "model:blackwell/mma.m16n8k16.f32.f16.f16.f32"},
                                    {"Ampere bf16", "bf16", "model:ampere/mma.m16n8k16.f32.bf16.bf16.f32"},
                                    {"Hopper tf32", "tf32", "model:hopper/mma.m16n8k8.f32.tf32.tf32.f32"},
                                    {"Ada e4m3", "e4m3", "model:ada/mma.m16n8k32.f32.e4m3.e4m3.f32"},
                                    {"Hopper wgmma e4m3", "e4m3", "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32"},
                                    {"s8 to s32", "s8", "integer"}};
constexpr int longest_witness = 128;
constexpr int lengths[] = {4, 16, 64, 128, 256, 1024, 4096, 16384, 65536};

/// The fp64 encoding of digit * 2^(1 - width): a number whose first digit is `digit` in a row of numbers below 2^1.
uint64_t encoding_of(int digit, int width) {
  return round_once(fp64_fields, digit < 0, magnitude_of(digit), 1 - width).encoding;
}

/// A product of one element of length k.
Op product_op(int k) { return op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=" + std::to_string(k)); }

std::string unit_of_one_slice(const Accumulator& accumulator, SliceWidths w) {
  return fmt::format("ozaki:dgemm.{}?slices=1,width_a={},width_b={},on={}", accumulator.slice, w.a, w.b,
                     accumulator.on);
}

/// The first of `tries` cases with a slice product that the unit rounds; an empty batch if there is none. Digits are
/// near the greatest and of one sign, but for a small one.
Batch attack(const Accumulator& accumulator, int k, SliceWidths w, int tries, uint64_t seed) {
  const Op op = product_op(k);
  const std::unique_ptr<Unit> unit = bind_or_fail(unit_of_one_slice(accumulator, w), op);
  const gemm::OzakiGemm& engine = dynamic_cast<const gemm::OzakiUnit&>(*unit).engine();
  std::vector<uint64_t> a(static_cast<size_t>(k)), b(static_cast<size_t>(k));
  for (int i = 0; i < tries; ++i) {
    CounterRng rng(seed, static_cast<uint64_t>(i));
    const int greatest_a = (1 << w.a) - 1, greatest_b = (1 << w.b) - 1,
              lower = rng.below(4) == 0 ? 0 : static_cast<int>(rng.below(4));
    const bool negative = rng.one_in(4);
    for (int l = 0; l < k; ++l) {
      const int less = lower == 0 ? 0 : static_cast<int>(rng.below(static_cast<uint32_t>(lower)));
      a[size_t(l)] = encoding_of(negative ? -greatest_a : greatest_a, w.a);
      b[size_t(l)] = encoding_of(std::max(1, greatest_b - less), w.b);
    }
    const size_t small = rng.below(static_cast<uint32_t>(k));
    if (i > 0 && k > 1) {
      a[small] = encoding_of(1, w.a);
      b[small] = encoding_of(rng.between(0, std::min(3, greatest_b)), w.b);
      b[(small + 1) % size_t(k)] = encoding_of(greatest_b, w.b);  // the top stays
    }
    if (engine.inexact_slice_products({1, 1, k}, {{a, b}})[0] == 0) continue;
    Batch found(op, 1);
    for (int l = 0; l < k; ++l) {
      found.inputs()[0].set(0, l, a[size_t(l)]);
      found.inputs()[1].set(0, l, b[size_t(l)]);
    }
    return found;
  }
  return {};
}

struct WidthsOptions {
  int tries = 64;
  std::string witnesses;
};

/// The check from both sides of one unit, for products of length k.
struct Row {
  std::string cells;  ///< cells of the table after that of the unit
  bool as_derived = true;
  std::string witness;  ///< a record of case text; empty: none, or too long
};
Row examine(const Accumulator& accumulator, int k, int tries) {
  const std::unique_ptr<Unit> unit =
      bind_or_fail(fmt::format("ozaki:dgemm.{}?on={}", accumulator.slice, accumulator.on), product_op(k));
  const gemm::OzakiGemm& engine = dynamic_cast<const gemm::OzakiUnit&>(*unit).engine();
  const gemm::OzakiRecord record = engine.describe({0, 0, k}, nullptr, nullptr).record;
  const SliceWidths w = record.widths;
  const int most = digit_bits(engine.plan().slice.fields());
  const int64_t n = std::min<int64_t>(k, int64_t{1} << record.bits);  // longer sums are cut into blocks
  Row row;
  const bool holds = attack(accumulator, static_cast<int>(n), w, tries, 1).size() == 0;
  const SliceWidths wider = w.a == w.b ? SliceWidths{w.a + 1, w.b} : SliceWidths{w.a, w.b + 1};
  std::string more = w.a == most && w.b == most ? "the format has no more" : "no witness";
  row.as_derived = holds;
  if (wider.a <= most && wider.b <= most) {
    const Batch broken = attack(accumulator, static_cast<int>(n), wider, tries, 2);
    row.as_derived &= broken.size() > 0;
    if (broken.size()) more = "fails";
    if (broken.size() && k <= longest_witness)
      row.witness = fmt::format("property exact_slices {}\n{}\n{}\n", unit_of_one_slice(accumulator, wider),
                                to_text(broken.op()), case_line(broken, 0));
  }
  const int slices_a = (53 + w.a - 1) / w.a, slices_b = (53 + w.b - 1) / w.b;
  row.cells = fmt::format("{} | {}{} | {} + {} {} | {} and {} | {} | {}", record.bits, k,
                          n < k ? fmt::format(" in blocks of {}", n) : "", w.a, w.b, holds ? "hold" : "FAIL", slices_a,
                          slices_b, slices_a * slices_b, more);
  return row;
}

int run_widths(const WidthsOptions& options) {
  bool as_derived = true;
  std::string witnesses =
      case_text_start + std::string(
                            "# Slices one bit wider than a unit sums exactly, found by 'mmafuzz bench ozaki-widths': "
                            "exact_slices fails on each.\n");
  std::vector<std::pair<std::string, std::string>> tables;  // names of units, and their common table
  for (const Accumulator& u : accumulators) {
    std::string table;
    for (const int k : lengths) {
      const Row row = examine(u, k, k > 4096 ? 4 : options.tries);  // long products are slow
      as_derived &= row.as_derived;
      witnesses += row.witness;
      table += row.cells + " |\n";
    }
    const auto same = std::find_if(tables.begin(), tables.end(), [&](const auto& t) { return t.second == table; });
    if (same == tables.end()) tables.push_back({u.unit, table});
    else same->first += std::string(", ") + u.unit;
  }
  fmt::print(
      "| unit | p | n | wa + wb | slices of 53 bits | slice products | one bit more "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const auto& [unit, table] : tables)
    for (const std::string& line : words_of(table, '\n')) fmt::print("| {} | {}\n", unit, line);
  if (!options.witnesses.empty()) replace_file(options.witnesses, witnesses);
  return as_derived ? exit_ok : exit_divergence;
}

}  // namespace

void add_bench_widths(Arguments& bench, int& status) {
  auto options = std::make_shared<WidthsOptions>();
  Arguments* sub = bench.add_subcommand(
      "ozaki-widths", "The widest slices that each unit sums exactly, with witnesses against one bit more");
  sub->add_option("--tries", options->tries, "cases per width")->capture_default_str()->check(positive_number());
  sub->add_option("--witnesses", options->witnesses, "write the witnesses of products up to n = 128 to this file");
  sub->footer(
      "Exit code 1 where a derived width fails or one bit more finds no witness.\nExample: mmafuzz bench ozaki-widths");
  sub->callback([options, &status] { status = run_widths(*options); });
}

}  // namespace mmafuzz
