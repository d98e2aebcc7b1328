// mmafuzz identify: finds what a black box computes, or the order in which it adds, from its answers to chosen cases.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/case_text.h"
#include "core/json_text.h"
#include "core/replace_file.h"
#include "core/program.h"
#include "core/text.h"
#include "identify/identify.h"
#include "identify/order.h"
#include "identify/quantizer.h"
#include "identify/questionnaire.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {
namespace {

struct IdentifyOptions {
  std::string unit, op, ask, answers, next, tree, svg, save, name;
  IdentifySettings settings;
  OrderSettings order_settings;
  uint64_t verify = 0;
  bool json = false, brief = false, order = false, saves = false, every_number = false;
};

int exit_code_of(IdentifyVerdict verdict) {
  switch (verdict) {
    case IdentifyVerdict::identified: return exit_ok;
    case IdentifyVerdict::no_fit: return exit_divergence;
    case IdentifyVerdict::too_few: break;
  }
  return exit_unknown;
}

void save(const Identification& id, const IdentifyOptions& options) {
  std::FILE* out = options.json ? stderr : stdout;
  if (id.verdict != IdentifyVerdict::identified) {
    fmt::print(out, "not saved: nothing was identified\n");
    return;
  }
  const Op& op = id.evidence.op();
  save_row(options.save, {options.name, id.name, op});
  fmt::print(out, "saved as {} in {}", options.name, options.save);
  if (id.name != "exact")
    fmt::print(out, ": {} fuzz --rows {} --units {},exact --op {}", program_name(), shell_word(options.save),
               options.name, shell_word(op_words(op)));
  fmt::print(out, "\n");
}

int print(const Identification& id, const IdentifyOptions& options) {
  if (options.json) fmt::print("{}", json_text(identification_json(id)));
  else fmt::print("{}", identification_text(id, !options.brief));
  if (options.saves) save(id, options);
  return exit_code_of(id.verdict);
}

void write_questions(CaseWriter& writer, const Batch& batch) {
  writer.op(batch.op());
  for (size_t i = 0; i < batch.size(); ++i) writer.one_case(batch, i);
}

int run_ask(const IdentifyOptions& options, const Op& op) {
  CaseWriter writer(options.ask);  // a file that cannot be written is told before the minute that the questions take
  const Batch cases = questionnaire(op);
  write_questions(writer, cases);
  writer.finish();
  fmt::print(
      "{} in {}. Let the unit answer them: each line gets ' | ' and its result. Then:\n"
      "  mmafuzz identify --answers FILE\n",
      counted(cases.size(), "case"), options.ask);
  return exit_ok;
}

/// Identifies the unit behind each op of a file with answers. Returns the greatest of the exit codes.
int run_answers(const IdentifyOptions& options, const std::string& path) {
  if (options.order || options.every_number)
    throw BadInput("--order and --every-number ask a unit; answers are in a file");
  std::error_code error;
  if (std::filesystem::equivalent(path, options.next, error))
    throw BadInput("--next would overwrite the answers in " + path);
  std::vector<Op> ops;
  if (options.op.empty()) ops = answered_ops(path);
  else ops.push_back(op_from_text(options.op));
  if (ops.empty()) throw BadInput(path + ": holds no dot with a result");
  if (options.saves)
    for (const Op& op : ops) check_can_save(options.save, options.name, op);
  int status = exit_ok;
  // For the questions of all ops. A file that cannot be written is told first.
  const auto next = options.next.empty() ? nullptr : std::make_unique<CaseWriter>(options.next);
  bool asks = false;
  for (const Op& op : ops) {
    if (ops.size() > 1 && !options.json) fmt::print("{}\n", to_text(op));
    const Identification id = identify_from(answers_in(path, op), options.settings);
    status = std::max(status, print(id, options));
    if (!id.next_cases || !next) continue;
    asks = true;
    write_questions(*next, *id.next_cases);
    if (!options.json) fmt::print("the next cases ({}) are in {}\n", id.next_cases->size(), options.next);
  }
  if (asks) next->finish();
  return status;
}

int run_order(const IdentifyOptions& options, const Unit& unit, const Op& op) {
  const RevealedOrder order = reveal_order(unit, op, options.order_settings);
  if (!order.tree) {
    fmt::print("no order: {}\n", order.reason);
    return exit_divergence;
  }
  if (!options.tree.empty()) write_output(options.tree, tree_file_text(*order.tree));
  if (!options.svg.empty()) write_output(options.svg, tree_svg(*order.tree));
  fmt::print(
      "{}\naccumulator {}; a product with f joins unrounded\n{} in {}, {} more about single products, "
      "{:.2f} s\n",
      folded_tree(*order.tree), order.tree->accumulator.name(), counted(order.questions, "question"),
      counted(order.rounds, "round"), order.fused_questions, order.reveal_seconds);
  fmt::print("replayed on {} random vectors: {} differ", order.replayed, order.differing);
  if (order.unstable) fmt::print("; {} the unit itself answers in two ways: not deterministic", order.unstable);
  fmt::print("; {:.1f} s\n", order.seconds);
  return order.differing || order.unstable ? exit_divergence : exit_ok;
}

int run_quantizer(const IdentifyOptions& options, const Op& op) {
  if (options.unit.empty()) throw BadInput("identify needs the unit to ask, as in --unit python:q.py:mine");
  if (options.order || options.saves || !options.ask.empty())
    throw BadInput("--order, --save and --ask are of dots; a quantizer has none");
  if (op.rounding == Rounding::stochastic) throw BadInput("identify asks quantizers that round without chance");
  if (options.every_number && op.a.fields().width > 32)
    throw BadInput("--every-number: " + op.a.name() + " has too many numbers");
  constexpr uint64_t drawn_by_default = 1 << 15;
  const QuantizerIdentification id =
      identify_quantizer(*bind_or_fail(options.unit, op), op, options.verify ? options.verify : drawn_by_default,
                         options.settings.seed, options.every_number);
  if (options.json) fmt::print("{}", json_text(identification_json(id)));
  else fmt::print("{}", identification_text(id));
  if (id.has_too_few()) return exit_unknown;
  return id.is_exact() ? exit_ok : exit_divergence;
}

int run_identify(const IdentifyOptions& options) {
  if (!options.answers.empty()) return run_answers(options, options.answers);
  constexpr std::string_view recorded = "recorded:";
  if (options.unit.starts_with(recorded)) return run_answers(options, options.unit.substr(recorded.size()));
  if (!options.next.empty()) throw BadInput("--next goes with --answers, or with a recording");
  if (options.op.empty()) throw BadInput("identify needs an op, as in --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16'");
  const Op op = op_from_text(options.op);
  if (op.kind == OpKind::quantize) return run_quantizer(options, op);
  if (options.every_number) throw BadInput("--every-number is of a quantizer");
  if (op.kind != OpKind::dot) throw BadInput("identify asks dots and quantizers; '" + to_text(op) + "' is neither");
  if (options.saves) check_can_save(options.save, options.name, op);
  const bool adds_floats = !op.a.fields().integer && !op.has_scales();
  if (!options.ask.empty()) {
    if (op.a.fields().integer) throw BadInput("--ask takes dots of floating-point formats");
    return run_ask(options, op);
  }
  if (options.unit.empty()) throw BadInput("identify needs the unit to ask, as in --unit plugin:./mine.so");
  const std::unique_ptr<Unit> unit = bind_or_fail(options.unit, op);
  if (!options.order) return print(identify(*unit, op, options.settings), options);
  if (!adds_floats) throw BadInput("--order takes dots of floating-point formats without scales");
  return run_order(options, *unit, op);
}

}  // namespace

void add_identify(Arguments& app, int& status) {
  auto options = std::make_shared<IdentifyOptions>();
  Arguments* sub = app.add_subcommand("identify", "Name what a black box computes, from its answers");
  Argument* unit = sub->add_option("--unit", options->unit, "unit to ask: a plugin, a process, a device, a recording");
  sub->add_option("--op", options->op, "op line of a dot, or of quantize");
  Argument* time =
      sub->add_option("--time", options->settings.seconds, "seconds at most (default 60)")->check(positive_number());
  Argument* verify = sub->add_option("--verify", options->verify,
                                     "cases of the verification (default 4194304, fewer of more than 16 products)")
                         ->check(unsigned_number());
  Argument* seed = sub->add_option("--seed", options->settings.seed, "seed of the searches")->check(unsigned_number());
  Argument* ask =
      sub->add_option("--ask", options->ask, "write one fixed file of cases for hardware that cannot be called");
  Argument* answers =
      sub->add_option("--answers", options->answers, "name the unit from this file: cases with their results");
  answers->excludes(unit)->excludes(ask);
  ask->excludes(unit)->excludes(time)->excludes(verify)->excludes(seed);
  sub->add_option("--next", options->next, "with --answers: where the next cases go, if they are needed");
  Argument* save = sub->add_option("--save", options->save, "add the row to this file, for --rows");
  Argument* name = sub->add_option("--as", options->name, "with --save: the row's name");
  save->needs(name);
  name->needs(save);
  Argument* order =
      sub->add_flag("--order", options->order, "reveal the order in which a long dot is added, as a tree");
  order->excludes(save)->excludes(ask);
  save->excludes(ask);
  sub->add_option("--tree", options->tree, "with --order: write the tree, for the unit tree:<file>")->needs(order);
  sub->add_option("--svg", options->svg, "with --order: draw the tree")->needs(order);
  sub->add_option("--replay", options->order_settings.verify, "with --order: random vectors (default 100000)")
      ->check(positive_count())
      ->needs(order);
  sub->add_flag("--every-number", options->every_number, "of a quantizer: ask every number, alone in a block");
  sub->add_flag("--brief", options->brief, "print the answer without the steps");
  order->excludes(sub->add_flag("--json", options->json, "print JSON"))->excludes(verify)->excludes(time);
  add_rows_option(*sub);
  sub->footer(
      "Exit codes: 0 identified, 1 no hypothesis fits, 4 not enough answers.\n"
      "Example: mmafuzz identify --unit twin:volta/mma.m8n8k4.f32.f16.f16.f32 --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 "
      "k=4'");
  sub->callback([options, sub, &status] {
    options->saves = sub->count("--save") > 0;
    if (sub->count("--verify")) options->settings.verify = options->verify;
    status = run_identify(*options);
  });
}

}  // namespace mmafuzz::cli
