// mmafuzz explain: shows cases on one or two units, step by step.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/run_files.h"
#include "cli/terminal.h"
#include "core/json_text.h"
#include "core/text.h"
#include "plan/named_rows.h"
#include "plan/typed_case.h"
#include "plan/unit_alias.h"
#include "plan/version.h"
#include "triage/explain/explain.h"
#include "triage/explain/explanation_json.h"
#include "triage/explain/explanation_svg.h"
#include "triage/explain/explanation_text.h"
#include "triage/report/page_address.h"
#include "triage/triage.h"

namespace mmafuzz::cli {
namespace {

struct ExplainOptions {
  std::vector<std::string> units;
  std::string op, file;
  std::vector<std::string> cases, words;
  std::vector<uint64_t> lines;
  bool sequence = false, json = false, svg = false, link = false;
  uint64_t width = 100;
};

/// Colour on a terminal, and the width that the terminal or the variable COLUMNS has. A file without COLUMNS gets the
/// width of a TextStyle, which puts no columns side by side.
TextStyle style_of_output() {
  TextStyle style;
  style.colour = isatty(STDOUT_FILENO) != 0;
  style.width = static_cast<int>(terminal_width(static_cast<size_t>(style.width)));
  return style;
}

/// Whether a property holds on the last case of a sequence; nullopt where the property cannot be bound.
std::optional<ExplainedVerdict> verdict_of_sequence(const std::string& property, const std::string& unit,
                                                    const Batch& sequence) {
  const Result<Judge> judge = Judge::bind(property, {unit}, sequence.op(), registry());
  if (!judge) return std::nullopt;
  const Verdict verdict = judge->judge(sequence).back();
  const Format& d = sequence.op().result_format(verdict.element);
  // Where both results are the same, the property is about one result, and there is no changed case.
  const std::string changed = verdict.first == verdict.second ? "" : ", the changed case " + to_hex(d, verdict.second);
  return ExplainedVerdict{
      verdict.fails, "",
      "after the others the last case " +
          (verdict.fails ? "breaks " + property + ": " + to_hex(d, verdict.first) + changed : "keeps " + property)};
}

/// The op of a typed case without --op: that of the first unit that is a model, else, with a GPU among the units, fp16
/// to fp32, which all GPUs have. k is the number of words in the first field. Throws BadInput where neither applies.
Op op_of_case(const std::vector<std::string>& units, const std::string& text) {
  const std::vector<std::string> names = split_units(units);
  const int products = std::max(1, static_cast<int>(words_of(text.substr(0, text.find('|'))).size()));
  for (const std::string& name : names) {
    std::optional<Op> op = op_of_row(name);
    if (!op) continue;
    op->k = products;
    return *op;
  }
  if (std::any_of(names.begin(), names.end(), is_alias))
    return op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=" + std::to_string(products));
  throw BadInput("a case needs --op, or a GPU or a model's row among --units");
}

/// The words of a call that shows the same without a file, for the page: typed cases as they are, cases of a file as
/// --case, with the op and units of the file.
std::vector<std::string> words_of_call(const ExplainOptions& options, const Explanation& explanation) {
  if (options.sequence) throw BadInput("--link takes single cases, no sequence");
  std::vector<std::string> words = {"explain"}, cases = options.cases;
  std::string op = options.op;
  for (const std::string& unit : split_units(options.units)) words.push_back(unit);
  if (cases.empty()) {
    op = explanation.cases[0].op.substr(3);  // after "op "
    if (words.size() == 1)
      for (const ExplainedUnit& unit : explanation.cases[0].units) words.push_back(unit.name);
    for (const ExplainedCase& one : explanation.cases) cases.push_back(one.fields);
  }
  if (!op.empty()) words.insert(words.end(), {"--op", op});
  for (const std::string& one : cases) words.insert(words.end(), {"--case", one});
  return words;
}

}  // namespace

void add_explain(Arguments& app, int& status) {
  auto options = std::make_shared<ExplainOptions>();
  Arguments* sub = app.add_subcommand("explain", "Show one case on one or two units, step by step");
  sub->add_option("--units", options->units,
                  "units, comma-separated (default: the file's property line, or its unit line and exact)")
      ->allow_extra_args(false);
  sub->add_option("--op", options->op,
                  "op line of --case (default: that of a model's row among --units; of GPUs fp16 to fp32)");
  sub->add_option("--case", options->cases, "a case's fields, in numbers or encodings; repeatable")
      ->allow_extra_args(false);
  sub->add_option("--line", options->lines,
                  "line of a case in the file, repeatable (default: the first case, and the changed case in a witness)")
      ->allow_extra_args(false)
      ->check(unsigned_number());
  sub->add_flag("--sequence", options->sequence, "the cases are one sequence: show the last after the others");
  Argument* json = sub->add_flag("--json", options->json, "print one JSON object");
  Argument* svg = sub->add_flag("--svg", options->svg,
                                "print a picture; two units stand on common columns, and a mark "
                                "where they first differ")
                      ->excludes(json);
  sub->add_option("--width", options->width, "characters of a line of --svg; below 80, digits stand below exponents")
      ->check(in_range(40, 1000))
      ->needs(svg);
  sub->add_flag("--link", options->link, "print a link to the page bits.html of the web site (docs/contributing.md)")
      ->excludes(json)
      ->excludes(svg);
  sub->add_option("words", options->words,
                  "units, as --units, and last a case file or one case: fields with | between them");
  add_rows_option(*sub);
  sub->footer(
      std::string(typed_case_help) +
      "\nExample: mmafuzz explain a100 h100 '1.5 0.1 | 2 3 | 0'"
      "\n         mmafuzz explain --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=4' --case '3c00 3c00 3c00 3c00 | 0001 0001 "
      "0001 0001 | 3f7fffff'"
      " --units model:volta/mma.m8n8k4.f32.f16.f16.f32,exact");
  sub->callback([options, &status] {
    // The last word is the file or the case; with --case it is a unit, unless there is a file of that name.
    if (!options->words.empty() && (options->cases.empty() || std::filesystem::exists(options->words.back()))) {
      options->file = options->words.back();
      options->words.pop_back();
    }
    options->units.insert(options->units.end(), options->words.begin(), options->words.end());
    if (options->file.find('|') != std::string::npos && options->cases.empty()) {  // the word is a case, not a file
      options->cases = {options->file};
      options->file.clear();
    }
    const bool has_typed_cases = !options->cases.empty();
    if (has_typed_cases && !options->lines.empty())
      throw BadInput("--line is a line of a file: leave it out with --case");
    if (has_typed_cases && !options->file.empty()) throw BadInput("give a case file or --case, not both");
    if (!has_typed_cases && !options->op.empty()) throw BadInput("--op goes with --case; a case file has its own");
    if (options->sequence && !options->lines.empty()) throw BadInput("--sequence takes all cases: leave --line out");
    if (!has_typed_cases && options->file.empty()) throw BadInput("explain needs a case file or a case");
    if (!has_typed_cases && is_unit(options->file) && !std::filesystem::exists(options->file))
      throw BadInput(options->file + " is a unit; explain shows a case: explain " +
                     (options->units.empty() ? "exact" : options->units[0]) + " " + options->file +
                     " '1.5 0.1 | 2. 3. | 0.'");
    const auto op = [&] {
      return options->op.empty() ? op_of_case(options->units, options->cases[0]) : op_from_text(options->op);
    };
    Explanation explanation;
    const std::string text = has_typed_cases ? text_of_cases(op(), options->cases, explanation.notes) : "";
    const std::unique_ptr<CaseReader> reader =
        has_typed_cases ? std::make_unique<CaseReader>("--case", text) : std::make_unique<CaseReader>(options->file);
    std::vector<uint64_t> lines_left = options->lines;
    CaseBlock block;
    UnitCache bound;
    while ((explanation.cases.empty() || !lines_left.empty()) && reader->next(block, block_cases)) {
      std::vector<std::string> names = split_units(options->units);
      if (names.empty() && !block.property.empty()) {  // the name of the property, then its units
        names = words_of(block.property);
        names.erase(names.begin());
      }
      const auto units_of_block = [&] {
        if (names.empty()) names = {unit_for(block, ""), "exact"};
        std::vector<const Unit*> units;
        for (const std::string& name : names) units.push_back(&bound.get(name, block.batch.op()));
        return units;
      };
      // A witness with more cases than a property needs is a sequence. A property of two units needs one case, one of a
      // single unit at most two: the case and the changed case.
      const bool is_sequence = !block.property.empty() && block.batch.size() > (names.size() == 2 ? 1 : 2);
      if (options->sequence || (is_sequence && options->lines.empty())) {
        const std::vector<const Unit*> units = units_of_block();
        size_t shown = 0;
        ExplainedCase last = explain_sequence(block.batch, units, &shown);
        if (names.size() == 1 && !block.property.empty())
          last.verdict = verdict_of_sequence(block.property.substr(0, block.property.find(' ')), names[0], block.batch);
        for (size_t i = 0; i < block.batch.size(); ++i)
          if (i != shown) (i < shown ? last.before : last.after).push_back(case_line(block.batch, i));
        explanation.cases.push_back(std::move(last));
        continue;
      }
      const bool has_changed = names.size() == 1 && !block.property.empty() && block.batch.size() == 2;
      for (size_t i = 0; i < block.batch.size(); ++i) {
        const bool is_shown_unasked = has_typed_cases || explanation.cases.empty() || (has_changed && i == 1);
        if (options->lines.empty() ? !is_shown_unasked : std::erase(lines_left, block.line[i]) == 0) continue;
        const std::vector<const Unit*> units = units_of_block();
        explanation.cases.push_back(explain_case(block.batch, i, units));
        if (units.size() != 2) continue;
        explanation.cases.back().verdict =
            verdict_of_pair(block.batch.part(i), {units[0]->name(), units[1]->name()}, registry());
      }
    }
    const bool found = !explanation.cases.empty() && lines_left.empty();
    if (!found && reader->error()) {
      const CaseTextError& error = *reader->error();
      throw BadInput(has_typed_cases ? "--case: column " + std::to_string(error.column) + ": " + error.message
                                     : error.to_string());
    }
    if (!found)
      throw BadInput(options->file + ": no case" +
                     (lines_left.empty() ? "" : " at line " + std::to_string(lines_left.front())));
    if (options->json) fmt::print("{}", json_text(explanation_json(explanation)));
    else if (options->svg) fmt::print("{}\n", explanation_svg(explanation, static_cast<size_t>(options->width)));
    else if (options->link)
      fmt::print("{}\n", "bits.html" + page_address(version_number(), words_of_call(*options, explanation)));
    else fmt::print("{}", explanation_text(explanation, style_of_output()));
    AnswerCounts answers;
    for (const ExplainedCase& one : explanation.cases)
      for (const ExplainedUnit& unit : one.units) answers[unit.name] += {1, unit.no_answer.empty(), unit.has_failed};
    status = judge_answers(answers, exit_ok);
  });
}

}  // namespace mmafuzz::cli
