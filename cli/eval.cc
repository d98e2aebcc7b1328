// mmafuzz eval: the cases of files with a unit's results, as case text; or cases that are typed, with the results of
// units as encodings and decimals.
#include <fmt/core.h>

#include "cli/run_files.h"
#include "plan/typed_case.h"
#include "triage/explain/number_text.h"

namespace mmafuzz::cli {
namespace {

/// What each unit makes of each case that was typed. A unit that breaks on one makes the exit code 1.
int print_typed(const std::string& op_text, const std::vector<std::string>& cases,
                const std::vector<std::string>& names) {
  if (op_text.empty()) throw BadInput("--case needs --op");
  for (const std::string& text : cases)
    if (text.find_first_not_of(" \t|") == std::string::npos) throw BadInput("--case '" + text + "' holds no number");
  if (names.empty()) throw BadInput("eval --case needs a unit, as in: mmafuzz eval exact --op ... --case ...");
  const Op op = op_from_text(op_text);
  std::vector<std::unique_ptr<Unit>> units;
  size_t width = 0;
  for (const std::string& name : names) {
    units.push_back(bind_or_fail(name, op));
    width = std::max(width, units.back()->name().size());
  }
  std::vector<std::string> notes;
  CaseReader reader("--case", text_of_cases(op, cases, notes));
  for (const std::string& note : notes) fmt::print("{}\n", note);
  Outcomes outcomes;
  bool any_failed = false;
  for (CaseBlock block; reader.next(block, 1);) {
    if (block.has_expected[0]) throw BadInput("--case: a case holds no result; compare with `check` and a file");
    fmt::print("{}\n", case_line(block.batch, 0));
    for (const std::unique_ptr<Unit>& unit : units) {
      unit->run(block.batch, outcomes);
      any_failed |= outcomes.has_failed(0);
      for (int e = 0; e < outcomes.results.count(); ++e) {
        const std::string result =
            outcomes.has_answer(0) ? explained_number(op.d, outcomes.results.get(0, e)).to_string() : "no answer";
        const std::string flags = e || outcomes.flags.empty() ? "" : "  flags " + flags_text(outcomes.flags[0]);
        fmt::print("  {:{}}  {}{}\n", e ? "" : unit->name(), width, result, flags);
      }
    }
  }
  if (reader.error())
    throw BadInput("--case: column " + std::to_string(reader.error()->column) + ": " + reader.error()->message);
  return any_failed ? exit_divergence : exit_ok;
}

}  // namespace

void add_eval(Arguments& app, int& status) {
  struct Options {
    std::string unit, output = "-", op;
    std::vector<std::string> files, cases;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub =
      app.add_subcommand("eval", "Print the cases of files with a unit's results, or units' results on one case");
  sub->add_option("--unit", options->unit, "unit to evaluate (default: the file's unit line)");
  sub->add_option("-o,--output", options->output, "file to write, .gz compresses (default: standard output)");
  sub->add_option("--op", options->op, "op line, with --case");
  sub->add_option("--case", options->cases, "a case's fields, in numbers or encodings, with --op; repeatable")
      ->allow_extra_args(false);
  sub->add_option("files", options->files, "case files, - for standard input; with --case: units");
  add_rows_option(*sub);
  sub->footer(
      std::string(typed_case_help) +
      "\nExample: mmafuzz eval exact h100 --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=2' --case '1.5 0.1 | 2 3 | 0'\n"
      "         mmafuzz eval --unit model:hopper/mma.m16n8k16.f32.f16.f16.f32 cases.cases");
  sub->callback([options, &status] {
    if (!options->cases.empty()) {
      if (!options->unit.empty()) options->files.insert(options->files.begin(), options->unit);
      if (options->output != "-") throw BadInput("--output is for the cases of files; --case prints");
      status = print_typed(options->op, options->cases, split_units(options->files));
      return;
    }
    if (!options->op.empty()) throw BadInput("--op needs --case; a case file has its own op lines");
    if (options->files.empty()) throw BadInput("eval needs case files, or --op and --case");
    bool any_failed = false;
    CaseWriter writer(options->output);
    const auto flush = [&] { writer.finish(); };
    try {
      run_files(options->files, options->unit,
                [&](const std::string&, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes) {
                  writer.unit(unit.name());
                  writer.op(block.batch.op());
                  for (size_t i = 0; i < block.batch.size(); ++i) {
                    writer.one_case(block.batch, i, &outcomes);
                    any_failed |= outcomes.has_failed(i);
                  }
                });
    } catch (const BadInput&) {
      flush();  // nothing before a malformed line is lost
      throw;
    }
    flush();
    status = any_failed ? exit_divergence : exit_ok;
  });
}

}  // namespace mmafuzz::cli
