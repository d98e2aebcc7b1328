// mmafuzz bench exhaustive: conversions on every input, value and flags.
#include <fmt/core.h>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "core/parallel.h"
#include "core/property.h"
#include "oracles/convert/exhaustive_conversion.h"
#include "oracles/convert/bulk_convert_simd.h"

namespace mmafuzz {
namespace {

/// The names of all formats with a bulk conversion from fp32; configurable ones with the least and greatest bias and
/// some between.
std::vector<std::string> all_destinations() {
  std::vector<std::string> names;
  for (const std::string& name : format_names()) {
    if (!has_bulk_plan(format(name).fields())) continue;
    const size_t colon = name.find(':');
    if (colon == name.npos) {
      names.push_back(name);
    } else {
      for (const int bias : {0, 1, 7, 15, 31, 47, 62, 63})
        names.push_back(name.substr(0, colon + 1) + std::to_string(bias));
    }
  }
  return names;
}

nlohmann::json conversion_row(const Op& op, uint64_t inputs, const std::string& unit, uint64_t wrong) {
  return {{"op", to_text(op)}, {"inputs", inputs}, {"unit", unit}, {"wrong", wrong}};
}

/// Tries all 2^32 fp32 inputs; false if a bulk conversion is wrong.
bool try_every_fp32(const Op& op, unsigned threads, MeasuredRows& rows) {
  if (!has_bulk_plan(op.d.fields()))
    throw BadInput("bench exhaustive: from fp32 only to formats of at most 10 fraction bits, not " + op.d.name());
  if (op.rounding == Rounding::stochastic)
    throw BadInput(
        "bench exhaustive: stochastic rounding differs from input to input; tests/bulk_convert_test.cc counts its "
        "random values");
  const BulkConversion conversion(op.d.fields(), op.rounding_rule());
  const exact::ExhaustiveConversion tried = exact::try_conversion(
      op,
      [&](const uint32_t* sources, size_t count, uint8_t* results, uint8_t* flags) {
        conversion.run(sources, count, 0, results, flags);
      },
      threads);
  std::string verdict = "none wrong";
  if (tried.first_wrong) {
    const exact::WrongConversion& w = *tried.first_wrong;
    verdict =
        fmt::format("{} wrong, first {} | {} | {:02x} instead of {} | {:02x}", tried.wrong, to_hex(op.a, w.source),
                    to_hex(op.d, w.encoding), w.flags, to_hex(op.d, w.expected), w.expected_flags);
  }
  rows.add(
      conversion_row(op, uint64_t{1} << 32, "bulk", tried.wrong),
      fmt::format("{:24} {:12} {:9} segments, {:5.1f} s MPFR, {:5.1f} s scan of 4294967296 inputs: {}", op.d.name(),
                  name_of(op.rounding), tried.segments, tried.referee_seconds, tried.scan_seconds, verdict));
  return !tried.first_wrong;
}

/// Tries every encoding of a source of at most 16 bits, against MPFR; false if one is wrong.
bool try_every_encoding(const Op& op, MeasuredRows& rows) {
  if (op.a.fields().width > 16)
    throw BadInput("bench exhaustive: --from takes fp32 or a format of at most 16 bits, not " + op.a.name());
  Batch batch(op, size_t{1} << op.a.fields().width);
  for (size_t i = 0; i < batch.size(); ++i) batch.inputs()[0].set(i, 0, i);
  const std::string name = registry().bind("bulk", op) ? "bulk" : "ieee";
  Outcomes ours, referee;
  bind_or_fail(name, op)->run(batch, ours);
  bind_or_fail("exact:mpfr", op)->run(batch, referee);
  uint64_t wrong = 0;
  compare_units("equals_model", Severity::contract, batch, name, ours, "exact:mpfr", referee,
                [&](const Divergence&, uint64_t count) { wrong += count; });
  rows.add(conversion_row(op, batch.size(), name, wrong),
           fmt::format("{:24} {:12} from {}, {} inputs by {}: {}", op.d.name(), name_of(op.rounding), op.a.name(),
                       batch.size(), name, wrong ? std::to_string(wrong) + " wrong" : "none wrong"));
  return wrong == 0;
}

}  // namespace

void add_bench_exhaustive(Arguments& bench, int& status) {
  struct Options {
    std::vector<std::string> to;
    std::string from = "fp32", round = "nearest_even";
    bool all = false, saturate = false, tiny_before = false;
    unsigned jobs = hardware_threads();
    MeasuredRows rows;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = bench.add_subcommand("exhaustive", "Try conversions on every input, value and flags, against MPFR");
  sub->add_option("--to", options->to, "destination format, several times if wanted");
  sub->add_option("--from", options->from, "source format")->capture_default_str();
  sub->add_option("--round", options->round, "rounding mode")->capture_default_str();
  sub->add_flag("--saturate", options->saturate, "overflow gives the greatest number");
  sub->add_flag("--tiny-before", options->tiny_before, "tininess is detected before rounding");
  sub->add_flag("--all", options->all, "every format that fp32 is converted to in bulk");
  sub->add_option("--jobs", options->jobs, "threads")->check(in_range(1, 1024));
  options->rows.add_json_flag(*sub);
  sub->footer("Example: mmafuzz bench exhaustive --to e4m3 --to cfloat8_1_4_3:7");
  sub->callback([options, &status] {
    if (options->all == !options->to.empty()) throw BadInput("bench exhaustive: give --to FORMAT or --all");
    bool right = true;
    for (const std::string& to : options->all ? all_destinations() : options->to) {
      const Op op =
          op_from_text("convert from=" + options->from + " to=" + to + " round=" + options->round +
                       (options->saturate ? " saturate=1" : "") + (options->tiny_before ? " tiny=before" : ""));
      right &= op.a == format("fp32") ? try_every_fp32(op, options->jobs, options->rows)
                                      : try_every_encoding(op, options->rows);
    }
    options->rows.end();
    status = right ? exit_ok : exit_divergence;
  });
}

}  // namespace mmafuzz
