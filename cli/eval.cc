// mmafuzz eval: prints the cases of files with a unit's results, as case text; or cases typed on the command line with
// the results of several units, as encodings and decimals.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_files.h"
#include "plan/typed_case.h"
#include "triage/explain/explanation_json.h"
#include "triage/explain/explain.h"
#include "triage/explain/number_text.h"

namespace mmafuzz::cli {
namespace {

nlohmann::json evaluated_case(const Batch& batch, size_t index) {
  return {{"op", to_text(batch.op())}, {"case", case_line(batch, index)}, {"units", nlohmann::json::array()}};
}

nlohmann::json evaluated_by(const Unit& unit, const Op& op, const Outcomes& outcomes, size_t index) {
  nlohmann::json values = nlohmann::json::array();
  for (int e = 0; outcomes.has_answer(index) && e < outcomes.results.count(); ++e)
    values.push_back(value_json(explained_number(op.result_format(e), outcomes.results.get(index, e))));
  nlohmann::json one = {{"name", unit.name()}, {"failed", outcomes.has_failed(index)}, {"results", values}};
  if (outcomes.has_answer(index) && !outcomes.flags.empty())
    one["flags"] = fmt::format("{:02x}", outcomes.flags[index]);
  return one;
}

void print_evaluated(const nlohmann::json& cases, const std::vector<std::string>& notes) {
  print_object({{"notes", notes}, {"cases", cases}});
}

/// Prints the results of each unit on each case that was typed. Returns the exit code.
int print_typed(const std::string& op_text, const std::vector<std::string>& cases,
                const std::vector<std::string>& names, bool json) {
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
  Outcomes outcomes;
  AnswerCounts answers;
  nlohmann::json evaluated = nlohmann::json::array();
  for (const std::string& note : json ? std::vector<std::string>() : notes) fmt::print("{}\n", note);
  for (CaseBlock block; reader.next(block, 1);) {
    if (block.has_expected[0]) throw BadInput("--case: a case holds no result; compare with `check` and a file");
    if (json) evaluated.push_back(evaluated_case(block.batch, 0));
    else fmt::print("{}\n", case_line(block.batch, 0));
    for (const std::unique_ptr<Unit>& unit : units) {
      unit->run(block.batch, outcomes);
      answers[unit->name()].add(outcomes);
      if (json) {
        evaluated.back()["units"].push_back(evaluated_by(*unit, op, outcomes, 0));
        continue;
      }
      const bool as_table = op.is_of_blocks() && outcomes.has_answer(0);
      if (as_table) {
        fmt::print("  {}\n", unit->name());
        for (const std::string& line : explained_block(block.batch, outcomes, 0)) fmt::print("    {}\n", line);
      }
      for (int e = 0; !as_table && e < outcomes.results.count(); ++e) {
        const std::string result = outcomes.has_answer(0)
                                       ? explained_number(op.result_format(e), outcomes.results.get(0, e)).to_string()
                                       : "no answer";
        const std::string flags = e || outcomes.flags.empty() ? "" : "  flags " + flags_text(outcomes.flags[0]);
        fmt::print("  {:{}}  {}{}\n", e ? "" : unit->name(), width, result, flags);
      }
    }
  }
  if (reader.error())
    throw BadInput("--case: column " + std::to_string(reader.error()->column) + ": " + reader.error()->message);
  if (json) print_evaluated(evaluated, notes);
  return judge_answers(answers, exit_ok);
}

}  // namespace

void add_eval(Arguments& app, int& status) {
  struct Options {
    std::string unit, output = "-", op;
    std::vector<std::string> files, cases;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub =
      app.add_subcommand("eval", "Print the cases of files with a unit's results, or units' results on one case");
  sub->add_option("--unit", options->unit, "unit to evaluate (default: the file's unit line)");
  sub->add_option("-o,--output", options->output, "file to write, .gz compresses (default: standard output)");
  sub->add_option("--op", options->op, "op line, with --case");
  sub->add_option("--case", options->cases, "a case's fields, in numbers or encodings, with --op; repeatable")
      ->allow_extra_args(false);
  sub->add_flag("--json", options->json, "print one JSON object");
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
      status = print_typed(options->op, options->cases, split_units(options->files), options->json);
      return;
    }
    if (!options->op.empty()) throw BadInput("--op needs --case; a case file has its own op lines");
    if (options->files.empty()) throw BadInput("eval needs case files, or --op and --case");
    for (const std::string& file : options->files) {
      if (file.find('|') != std::string::npos && !std::filesystem::exists(file))
        throw BadInput("'" + file + "' is a case: eval takes it with --op and --case");
      if (is_unit(file) && !std::filesystem::exists(file))
        throw BadInput(file + " is a unit: with case files it is --unit " + file + "; a case is --op and --case");
    }
    if (options->json && options->output != "-") throw BadInput("--output is for case text; --json prints");
    AnswerCounts answers;
    nlohmann::json evaluated = nlohmann::json::array();
    CaseWriter writer(options->output);
    run_files(options->files, options->unit,
              [&](const std::string& file, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes) {
                if (!options->json) writer.unit(unit.name());
                if (!options->json) writer.op(block.batch.op());
                answers[on_op(unit.name(), block.batch.op())].add(outcomes);
                for (size_t i = 0; i < block.batch.size(); ++i) {
                  if (!options->json) {
                    writer.one_case(block.batch, i, &outcomes);
                    continue;
                  }
                  evaluated.push_back(evaluated_case(block.batch, i));
                  evaluated.back().update({{"file", file}, {"line", block.line[i]}});
                  evaluated.back()["units"].push_back(evaluated_by(unit, block.batch.op(), outcomes, i));
                }
              });
    if (options->json) print_evaluated(evaluated, {});
    else writer.finish();
    status = judge_answers(answers, exit_ok);
  });
}

}  // namespace mmafuzz::cli
