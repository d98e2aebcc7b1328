// mmafuzz minimize: prints the divergences of case files or of engines' artifacts as minimal witnesses with their
// causes. An artifact is the input of a fuzz target on which an engine stopped.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/case_text.h"
#include "core/replace_file.h"
#include "core/text.h"
#include "plan/case_arrays.h"
#include "plan/default_fields.h"
#include "plan/targets.h"
#include "triage/minimize_divergence.h"
#include "search/byte_codec.h"
#include "search/comparison.h"
#include "search/focuses.h"

namespace mmafuzz::cli {
namespace {

struct MinimizeOptions {
  std::vector<std::string> units, ops, files;
  std::string property = "equal", target, output = "-";
  bool json = false;
};

/// A case that was tried.
struct Tried {
  std::string file;
  uint64_t line = 0;                             ///< the case's line, from 1; 0 for a case of an artifact
  std::string op, fields;                        ///< the op line, and the case as case text
  std::optional<MinimizedDivergence> minimized;  ///< nullopt: the case does not fail
};

struct Tries {
  uint64_t cases = 0;
  AnswerCounts answers;     ///< to the cases of files that do not fail, by unit
  std::vector<Tried> list;  ///< all cases of files, and the cases of artifacts that fail
};

/// Decodes an artifact as its target does, into a case and its neighbours, and minimizes a divergence of each kind
/// there.
void minimize_artifact(const MinimizeOptions& options, const std::string& file, Tries& tries) {
  const std::string bytes = content_of(file);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  std::vector<Op> ops;
  for (const std::string& text : options.ops) ops.push_back(op_from_text(text));
  const FuzzTarget& target = target_named(options.target);
  if (ops.empty()) ops = ops_of(target);
  std::erase_if(ops, [&](const Op& op) { return units_of(target, options.units, op).empty(); });
  if (ops.empty()) throw BadInput("none of the units evaluates any of the ops");
  const EngineInput header = decode_header(data, bytes.size());
  const Op& op = ops[header.op % ops.size()];
  const Comparison comparison(op, units_of(target, options.units, op), registry(), properties_of(target));
  const std::vector<EngineFocus> focuses = engine_focuses(comparison);
  const EngineFocus& focus = focuses[header.focus % focuses.size()];
  Batch cases(op, cases_of_input(op) * max_neighbour_factor);
  decode_operands(data, bytes.size(), cases, 0);
  Mutator(op, corner_hints(focus.model, focus.slicing)).neighbours(cases, header.selector);
  tries.cases += cases.size();
  for (const auto& [key, finding] : comparison.examine(cases).buckets) {
    const Batch single = finding.first.cases.part(0);
    if (std::optional<MinimizedDivergence> found = minimized(key.property, key.units, single, registry()))
      tries.list.push_back({file, 0, to_text(op), case_line(single, 0), std::move(found)});
  }
}

void minimize_cases(const MinimizeOptions& options, const std::string& file, Tries& tries) {
  std::string changed;  // the changed case of the last case: a record has it in the next line, where it is skipped
  visit_cases(file, 1, [&](const CaseBlock& block) {
    if (!changed.empty() && case_line(block.batch, 0) == changed) return changed.clear();
    std::string property = options.property;
    std::vector<std::string> units = options.units;
    if (units.empty())
      if (const std::vector<std::string> words = words_of(block.property); !words.empty()) {
        property = words[0];
        units.assign(words.begin() + 1, words.end());
      }
    if (units.empty())
      throw BadInput(file + ": line " + std::to_string(block.line[0]) +
                     ": no property line before the case; say --units U[,V]");
    ++tries.cases;
    tries.list.push_back({file, block.line[0], to_text(block.batch.op()), case_line(block.batch, 0),
                          minimized(property, units, block.batch, registry(), &changed)});
    if (tries.list.back().minimized) return;
    for (const std::string& unit : units) {
      const Outcomes outcomes = bind_or_fail(unit, block.batch.op())->outcomes_of(block.batch);
      tries.answers[unit].add(outcomes);
    }
  });
}

nlohmann::json minimized_json(const MinimizedDivergence& m) {
  const Op& op = m.witness.op();
  const Format& result = op.result_format(m.verdict.element);
  nlohmann::json results = {to_hex(result, m.verdict.first)};
  if (m.bucket.key.units.size() > 1 || m.verdict.second != m.verdict.first)
    results.push_back(to_hex(result, m.verdict.second));
  return {{"id", m.bucket.id()},
          {"property", m.bucket.key.property},
          {"units", m.bucket.key.units},
          {"value_class", m.bucket.key.value_class},
          {"severity", name_of(m.bucket.severity)},
          {"cause", m.bucket.cause},
          {"detail", m.bucket.detail},
          {"op", to_text(op)},
          {"case", case_line(m.witness, 0)},
          {"results", results},
          {"witness", m.bucket.witness}};
}

nlohmann::json tries_json(const Tries& tries, size_t failing) {
  nlohmann::json list = nlohmann::json::array();
  for (const Tried& tried : tries.list) {
    nlohmann::json entry = {{"file", tried.file}, {"op", tried.op}, {"case", tried.fields}};
    if (tried.line) entry["line"] = tried.line;
    if (tried.minimized) entry["minimized"] = minimized_json(*tried.minimized);
    list.push_back(std::move(entry));
  }
  return {{"cases", tries.cases}, {"failing", failing}, {"list", list}};
}

}  // namespace

void add_minimize(Arguments& app, int& status) {
  auto options = std::make_shared<MinimizeOptions>();
  Arguments* sub = app.add_subcommand("minimize", "Print divergences in their normal form, with their causes");
  sub->add_option("--units", options->units, "units, comma-separated (default: the file's property line)")
      ->allow_extra_args(false);
  sub->add_option("--property", options->property, "what fails, with --units")->capture_default_str();
  sub->add_option("--target", options->target, "the files are artifacts or corpus inputs of this fuzz target")
      ->check(one_of(target_names([](const FuzzTarget& t) { return t.has_ops(); })));
  sub->add_option("--op", options->ops, "with --target: op lines that the target ran with (default: its own)");
  sub->add_option("-o,--output", options->output, "case file to write")->capture_default_str();
  sub->add_flag("--json", options->json,
                "print one JSON object, with the cases that do not fail; cases go to -o alone");
  sub->add_option("files", options->files, "case files, or artifacts with --target")->required();
  add_rows_option(*sub);
  sub->footer(
      "Exit codes: 0 what fails was minimized, 1 no case fails, 2 the call or an input was wrong.\n"
      "Example: mmafuzz minimize --units model:volta/mma.m8n8k4.f32.f16.f16.f32,exact found.cases");
  sub->callback([options, &status] {
    options->units = split_units(options->units);
    if (options->json && is_standard_output(options->output))
      options->output = "-";  // standard output is for the object
    Tries tries;
    for (const std::string& file : options->files)
      if (options->target.empty()) minimize_cases(*options, file, tries);
      else minimize_artifact(*options, file, tries);
    std::string out = case_text_start;
    size_t found = 0;
    for (const Tried& tried : tries.list) {
      if (!tried.minimized) continue;
      ++found;
      const std::string& text = tried.minimized->bucket.witness;
      out += text.substr(text.find('\n') + 1);
    }
    if (options->output != "-") write_output(options->output, out);
    else if (!options->json) fmt::print("{}", out);
    if (options->json) print_object(tries_json(tries, found));
    if (const std::string text = silence_message(tries.answers); found == 0 && !text.empty()) throw BadInput(text);
    if (found == 0) fmt::print(stderr, "mmafuzz: no case fails\n");
    status = found ? exit_ok : exit_divergence;
  });
}

}  // namespace mmafuzz::cli
