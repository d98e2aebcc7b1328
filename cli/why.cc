// mmafuzz why: searches for what differs between two units, and prints it as facts with witnesses.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "campaign/pair_search.h"
#include "cli/command.h"
#include "cli/run_files.h"
#include "cli/terminal.h"
#include "core/case_text.h"
#include "core/json_text.h"
#include "core/program.h"
#include "core/text.h"
#include "plan/default_fields.h"
#include "plan/unit_alias.h"
#include "triage/explain/number_text.h"
#include "triage/facts/conclusions_text.h"
#include "triage/facts/fact_json.h"

namespace mmafuzz::cli {
namespace {

struct WhyOptions {
  std::vector<std::string> ops, units;
  uint64_t cases = 1 << 15, seed = 1;
  bool json = false;
};

void check_names(const std::vector<std::string>& units) {
  for (const std::string& unit : units)
    if (!is_alias(unit) && !registry().knows(unit)) bind_or_fail(unit, default_ops(OpKind::dot).front());
}

/// Ops that both units take: those of the default search or, where they take none of these, of all models' rows.
std::vector<Op> common_ops(const std::vector<std::string>& units) {
  std::vector<Op> ops;
  const auto offer = [&](const Op& op) {
    const auto takes = [&](const std::string& unit) { return static_cast<bool>(registry().bind(unit, op)); };
    if (std::all_of(units.begin(), units.end(), takes) && std::find(ops.begin(), ops.end(), op) == ops.end())
      ops.push_back(op);
  };
  for (const OpKind kind : {OpKind::dot, OpKind::scalar, OpKind::convert, OpKind::quantize, OpKind::dequantize})
    for (const Op& op : default_ops(kind)) offer(op);
  if (ops.empty())
    for (const Op& op : ops_of_models()) offer(op);
  return ops;
}

/// A fact's witness: both results as encodings and decimals, and the command that shows it.
std::string witness_text(const Fact& fact, const std::vector<std::string>& units) {
  CaseReader reader("witness", fact.best.witness);
  CaseBlock block;
  if (!reader.next(block, 1)) return "";
  const Op& op = block.batch.op();
  std::string text;
  size_t width = 0;
  for (const std::string& unit : units) width = std::max(width, unit.size());
  Outcomes outcomes[2];
  for (size_t i = 0; i < 2; ++i) bind_or_fail(units[i], op)->run(block.batch, outcomes[i]);
  const int difference = first_difference(block.batch, outcomes[0].results, outcomes[1].results, 0);
  const int element = std::max(0, difference);
  for (size_t i = 0; i < 2; ++i)
    text += fmt::format(
        "    {:<{}}  {}{}\n", units[i], width,
        explained_number(op.result_format(element), outcomes[i].results.get(0, element)).to_string(),
        difference < 0 && !outcomes[i].flags.empty() ? fmt::format(", flags {:02x}", outcomes[i].flags[0]) : "");
  return text + fmt::format("    {}\n", reproduction_command(fact.best, program_name()));
}

void print(const Op& op, const PairAnswer& answer, size_t width) {
  fmt::print("{}\n  {}\n  {}\n", to_text(op), answer.units[0], answer.units[1]);
  if (answer.compared == 0) fmt::print("  Nothing was compared: they answered no case both.\n");
  else if (answer.facts.empty() && answer.differing)
    fmt::print("  They differ on {} of {} structured cases, but the search for causes met none that differs.\n",
               answer.differing, answer.compared);
  else if (answer.facts.empty() && answer.unseen.empty())
    fmt::print("  {}: no operands were found on which they differ.\n",
               any_broke(answer.answers) ? "They agree where both answer" : "They agree");
  else if (answer.facts.empty()) fmt::print("  No operands were found on which they differ, but their rows do:\n");
  else fmt::print("  They differ on {} of {} structured cases:\n", answer.differing, answer.compared);
  for (const Fact& fact : answer.facts)
    fmt::print("\n  {}\n{}{}", fact.name, wrapped(sentence(fact), width, 4), witness_text(fact, answer.units));
  if (!answer.of_stranger.empty())
    fmt::print("\n{}", wrapped("All cases near the first witness: " + answer.of_stranger, width, 2));
  const auto say = [&](const std::vector<std::string>& names, const char* what) {
    if (!names.empty())
      fmt::print("\n{}",
                 wrapped(fmt::format("Their rows also differ in {}, {}.", joined(names, ", "), what), width, 2));
  };
  say(answer.hidden, "which no operands of this op can show");
  say(answer.unseen, "but no operands were found that show it");
}

nlohmann::json answer_json(const Op& op, const PairAnswer& answer) {
  return {{"op", to_text(op)},
          {"units", answer.units},
          {"compared", answer.compared},
          {"differing", answer.differing},
          {"facts", json_list(answer.facts, fact_json)},
          {"of_stranger", answer.of_stranger},
          {"hidden", answer.hidden},
          {"unseen", answer.unseen}};
}

int run_why(WhyOptions options) {
  options.units = split_units(options.units);
  if (options.units.size() != 2) throw BadInput("why takes two units, as in 'mmafuzz why a100 h100'");
  check_names(options.units);
  std::vector<Op> ops;
  for (const std::string& text : options.ops) ops.push_back(op_from_text(text));
  if (ops.empty()) ops = common_ops(options.units);
  if (ops.empty())
    throw BadInput("no known op is taken by both " + options.units[0] + " and " + options.units[1] +
                   ": name one with --op; 'mmafuzz list -v' has the ops of every unit");
  nlohmann::json answers = nlohmann::json::array();
  AnswerCounts counts;
  for (size_t i = 0; i < ops.size(); ++i) {
    const PairAnswer answer = search_pair({ops[i], options.units[0], options.units[1], options.cases, options.seed});
    for (const auto& [unit, count] : answer.answers) counts[on_op(unit, ops[i])] += count;
    if (options.json) {
      answers.push_back(answer_json(ops[i], answer));
      continue;
    }
    if (i) fmt::print("\n");
    print(ops[i], answer, terminal_width());
  }
  if (options.json) fmt::print("{}", json_text(answers));
  return judge_answers(counts, exit_ok);
}

}  // namespace

void add_why(Arguments& app, int& status) {
  auto options = std::make_shared<WhyOptions>();
  Arguments* sub = app.add_subcommand("why", "Say what differs between two units, with operands that show it");
  sub->add_option("units", options->units, "two units, or GPUs ('mmafuzz list gpus'), as in: a100 h100/wgmma")
      ->required();
  sub->add_option("--op", options->ops, "op line, repeatable (default: every op of the default search that both take)")
      ->allow_extra_args(false);
  sub->add_option("--cases", options->cases, "cases of each round of the search")
      ->check(positive_count())
      ->capture_default_str();
  sub->add_option("--seed", options->seed, "seed of the search")->check(unsigned_number());
  sub->add_flag("--json", options->json, "print JSON: an array with an object for each op");
  add_rows_option(*sub);
  sub->footer("Example: mmafuzz why a100 h100 --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16'");
  sub->callback([options, &status] { status = run_why(*options); });
}

}  // namespace mmafuzz::cli
