// mmafuzz explain: one case on one or two units, step by step, from the trace.
#include <fmt/core.h>
#include <unistd.h>

#include "arithmetic/evaluate_dot.h"
#include "cli/run_files.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/units/function_unit.h"
#include "oracles/units/parameters.h"

namespace mmafuzz::cli {
namespace {

struct Style {
  bool colour = false;
  std::string lost(const std::string& text) const { return colour ? "\x1b[31m" + text + "\x1b[0m" : text; }
  std::string strong(const std::string& text) const { return colour ? "\x1b[1m" + text + "\x1b[0m" : text; }
};

/// A number for people: hexadecimal float and decimal.
std::string value_text(const Format& format, uint64_t encoding) {
  exact::Mpfr x(64);
  exact::set_from_encoding(x.get(), format, encoding);
  if (mpfr_nan_p(x.get())) return "NaN";
  if (mpfr_inf_p(x.get())) return mpfr_signbit(x.get()) ? "-inf" : "+inf";
  const double value = mpfr_get_d(x.get(), MPFR_RNDN);  // exact: no format is wider than fp64
  return fmt::format("{:a} = {:.{}g}", value, value, format.fields().fraction_bits > 23 ? 17 : 9);
}

std::string binary(uint64_t value, int digits) {
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += i < 64 && (value >> i & 1) ? '1' : '0';
  return text;
}

std::string source_text(const Addend& t) {
  switch (t.source) {
    case Addend::Source::product: return fmt::format("a{0}*b{0}", t.index);
    case Addend::Source::c: return "c";
    case Addend::Source::group: return fmt::format("group {}", t.index);
    case Addend::Source::partial_sum: break;
  }
  return fmt::format("term {}", t.index);
}

std::string significand_text(const Addend& t) {
  if (t.cls == NumberClass::nan) return "NaN";
  if (t.cls == NumberClass::infinity) return t.negative ? "-inf" : "+inf";
  if (t.significand == 0) return t.negative ? "-0" : "+0";
  // The significand in [0, 4) that goes with the exponent of the alignment.
  const int fraction = std::max(0, t.scale_exponent - t.exponent);
  std::string bits = binary(t.significand, std::max(fraction + 1, fast_bit_length(t.significand)));
  std::string point = bits.substr(0, bits.size() - size_t(fraction));
  std::string rest = bits.substr(bits.size() - size_t(fraction));
  while (rest.size() > 1 && rest.back() == '0') rest.pop_back();
  return fmt::format("{}{}.{} * 2^{}", t.negative ? "-" : "+", point, rest, t.scale_exponent);
}

/// The magnitude on the step's fixed-point grid: integer bits, point, kept fraction bits, then what falls off.
std::string aligned_text(const Addend& t, const Step& step, int integer_bits, int fraction_bits, const Style& style) {
  const uint64_t kept = static_cast<uint64_t>(t.kept < 0 ? -t.kept : t.kept);
  const std::string bits = binary(kept, integer_bits + fraction_bits);
  std::string text = (t.kept < 0 ? "-" : t.kept > 0 ? "+" : " ") + bits.substr(0, size_t(integer_bits)) + "." + bits.substr(size_t(integer_bits));
  if (t.lost) {
    std::string fallen;
    for (int position = step.unit_exponent - 1; position >= t.exponent && fallen.size() < 12; --position) {
      const int bit = position - t.exponent;
      fallen += bit < 64 && (t.significand >> bit & 1) ? '1' : '0';
    }
    while (fallen.size() > 1 && fallen.back() == '0') fallen.pop_back();
    text += " " + style.lost("|" + fallen + (step.unit_exponent - t.exponent > 12 ? "..." : ""));
  }
  return text;
}

const char* kind_text(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::special: return "infinities or NaNs decide";
    case Step::Kind::fused_sum: return "truncated fused sum";
    case Step::Kind::exact_sum: return "exact sum, one rounding";
    case Step::Kind::second_stage: return "two-stage sum";
    case Step::Kind::ieee_add: return "IEEE addition";
    case Step::Kind::ieee_multiply: return "IEEE multiplication";
    case Step::Kind::ieee_fma: return "IEEE fused multiply-add";
  }
  return "";
}

void print_step(const Step& step, const Format& d, const Style& style) {
  fmt::print("  instruction {}, block {}: {}\n", step.instruction, step.block, kind_text(step.kind));
  const bool grid = step.aligned && step.kind != Step::Kind::special;
  const int fraction = grid ? step.greatest_exponent - step.unit_exponent : 0;
  int integer = 1;
  if (grid) {
    uint64_t widest = static_cast<uint64_t>(step.sum < 0 ? -step.sum : step.sum);
    for (int i = 0; i < step.count; ++i)
      widest |= static_cast<uint64_t>(step.addend[i].kept < 0 ? -step.addend[i].kept : step.addend[i].kept);
    integer = std::max(1, fast_bit_length(widest) - fraction);
    fmt::print("    greatest exponent {}{}; {} bits are kept below it\n", step.greatest_exponent,
               step.floor_decided ? " (read by a zero term)" : "", fraction);
  }
  int zeros = 0;
  for (int i = 0; i < step.count; ++i) {
    const Addend& t = step.addend[i];
    if (t.cls == NumberClass::zero && t.source == Addend::Source::product) {
      ++zeros;
      continue;
    }
    const std::string shown = significand_text(t);
    if (grid && t.significand) {
      fmt::print("    {:10} {:44} shift {:3}  {}\n", source_text(t), shown, t.shift, aligned_text(t, step, integer, fraction, style));
    } else {
      fmt::print("    {:10} {}\n", source_text(t), shown);
    }
  }
  if (zeros) fmt::print("    {} zero product{}\n", zeros, zeros == 1 ? "" : "s");
  if (grid) {
    const std::string bits = binary(static_cast<uint64_t>(step.sum < 0 ? -step.sum : step.sum), integer + fraction);
    fmt::print("    {:10} {:44}            {}{}.{}\n", "sum", fmt::format("{} * 2^{}", step.sum, step.unit_exponent),
               step.sum < 0 ? "-" : step.sum > 0 ? "+" : " ", bits.substr(0, size_t(integer)), bits.substr(size_t(integer)));
  }
  const Rounded& r = step.rounded;
  std::string how;
  if (step.kind != Step::Kind::special) {
    how = r.flags & flag::overflow ? ", overflow" : r.flags & flag::inexact ? (r.rounded_away ? ", rounded away from zero" : ", rounded toward zero") : ", exact";
    if (r.flags & flag::inexact) how += fmt::format(" (last {} guard {} sticky {})", int(r.last), int(r.guard), int(r.sticky));
  }
  fmt::print("    {:10} {}  {}{}\n", "result", style.strong(to_hex(d, step.result)), value_text(d, step.result), how);
}

void print_unit(const std::string& name, const Op& op, const Batch& batch, size_t index, mpfr_srcptr exact_value, const Style& style) {
  const std::unique_ptr<Unit> unit = bind_or_fail(name, op);
  fmt::print("{}\n", style.strong(name));
  Batch single(op);
  single.append(batch, index);
  if (const DotModel* model = unit->model()) {
    std::string text;
    for (const char* shown : {"kernel", "block", "fraction_bits", "zero_rule", "zero_exponent", "output_fraction_bits", "output_rounding"})
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", shown, parameter_text(*find_parameter(shown), *model));
    fmt::print("  {}\n", text);
    RecordingTrace trace;
    DotCase one(op);
    evaluate_dot(*model, one.load(single, 0), trace);
    for (const Step& step : trace.steps) print_step(step, op.d, style);
  }
  Outcomes outcomes;
  unit->run(single, outcomes);
  if (!outcomes.has_answer(0)) {
    fmt::print("  = no answer for this case\n\n");
    return;
  }
  const FieldShape result = op.result();
  std::string error;
  if (exact_value) {
    const double ulps = exact::ulp_error(op.d, exact_value, outcomes.results.get(0));
    if (ulps == ulps) error = fmt::format("  error {:.4g} ulp", ulps);
  }
  const std::string flags = outcomes.flags.empty() ? "" : fmt::format("  flags {:02x}", outcomes.flags[0]);
  for (int i = 0; i < result.count; ++i)
    fmt::print("  = {}  {}{}{}\n", style.strong(to_hex(op.d, outcomes.results.get(0, i))), value_text(op.d, outcomes.results.get(0, i)), error, flags);
  fmt::print("\n");
}

void explain_case(const Batch& batch, size_t index, const std::vector<std::string>& units, const Style& style) {
  const Op& op = batch.op();
  fmt::print("{}\n{}\n\n", to_text(op), case_line(batch, index));
  exact::Mpfr exact_value(exact::sum_precision);
  bool have_exact = false;
  if (op.kind == OpKind::dot && !op.d.fields().integer) {
    DotCase one(op);
    exact::mpfr_dot_value(op, one.load(batch, index), exact_value.get());
    have_exact = true;
    char decimal[96];
    mpfr_snprintf(decimal, sizeof decimal, "%.25Rg", exact_value.get());
    fmt::print("exact value {}\n\n", decimal);
  }
  for (const std::string& unit : units) print_unit(unit, op, batch, index, have_exact ? exact_value.get() : nullptr, style);
}

}  // namespace

void add_explain(CLI::App& app, int& status) {
  struct Options {
    std::vector<std::string> units;
    std::string op, text, file;
    uint64_t line = 0;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("explain", "Show one case on one or two units, step by step");
  sub->add_option("--units", options->units, "units, comma-separated (default: the file's unit line and exact)");
  sub->add_option("--op", options->op, "op line, with --case");
  sub->add_option("--case", options->text, "the case's fields, with --op");
  sub->add_option("--line", options->line, "line of the case in the file (default: the first case)")->check(unsigned_number());
  sub->add_option("file", options->file, "case file");
  sub->footer("Example: mmafuzz explain --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=4' --case '3c00 3c00 3c00 3c00 | 0001 0001 0001 0001 | 3f7fffff'"
              " --units model:volta/mma.m8n8k4.f32.f16.f16.f32,exact");
  sub->callback([options, &status] {
    const Style style{isatty(1) != 0};
    const bool given = !options->text.empty();
    if (given && options->op.empty()) throw BadInput("--case needs --op");
    if (!given && options->file.empty()) throw BadInput("explain needs a case file, or --op and --case");
    const std::string text = given ? "mmafuzz-cases 1\n" + to_text(op_from_text(options->op)) + "\n" + options->text + "\n" : "";
    const std::unique_ptr<CaseReader> reader =
        given ? std::make_unique<CaseReader>("--case", text) : std::make_unique<CaseReader>(options->file);
    CaseBlock block;
    bool found = false;
    while (!found && reader->next(block, 4096)) {
      for (size_t i = 0; i < block.batch.size() && !found; ++i) {
        if (options->line && block.line[i] != options->line) continue;
        std::vector<std::string> units = split_units(options->units);
        if (units.empty()) units = {unit_for(block, ""), "exact"};
        explain_case(block.batch, i, units, style);
        found = true;
      }
    }
    if (!found && reader->error()) {
      const CaseTextError& error = *reader->error();
      throw BadInput(given ? "--case: column " + std::to_string(error.column) + ": " + error.message : error.to_string());
    }
    if (!found) throw BadInput(options->file + ": no case" + (options->line ? " at line " + std::to_string(options->line) : ""));
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
