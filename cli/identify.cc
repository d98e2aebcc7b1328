// mmafuzz identify: what a black box computes, found by asking it.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "identify/identification_text.h"
#include "plan/unit_alias.h"

namespace mmafuzz::cli {
namespace {

constexpr int exit_too_few_answers = 4;

struct IdentifyOptions {
  std::string unit, op;
  IdentifySettings settings;
  bool json = false, brief = false;
};

int exit_code_of(IdentifyVerdict verdict) {
  switch (verdict) {
    case IdentifyVerdict::identified: return exit_ok;
    case IdentifyVerdict::no_fit: return exit_divergence;
    case IdentifyVerdict::too_few: break;
  }
  return exit_too_few_answers;
}

int print(const Identification& id, const IdentifyOptions& options) {
  if (options.json) fmt::print("{}\n", identification_json(id).dump(2));
  else fmt::print("{}", identification_text(id, !options.brief));
  return exit_code_of(id.verdict);
}

int run_identify(const IdentifyOptions& options) {
  if (options.op.empty()) throw BadInput("identify needs an op, as in --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16'");
  const Op op = op_from_text(options.op);
  if (op.kind != OpKind::dot) throw BadInput("identify asks dots; '" + to_text(op) + "' is none");
  if (options.unit.empty()) throw BadInput("identify needs the unit to ask, as in --unit plugin:./mine.so");
  const std::unique_ptr<Unit> unit = bind_or_fail(unit_of_alias(options.unit, op), op);
  return print(identify(*unit, op, options.settings), options);
}

}  // namespace

void add_identify(Arguments& app, int& status) {
  auto options = std::make_shared<IdentifyOptions>();
  Arguments* sub = app.add_subcommand("identify", "Name what a black box computes, from its answers");
  sub->add_option("--unit", options->unit, "unit to ask: a plugin, a process, a device, a recording");
  sub->add_option("--op", options->op, "op line of a dot");
  sub->add_option("--time", options->settings.seconds, "seconds at most (default 60)")->check(positive_number());
  sub->add_option("--verify", options->settings.verify, "cases of the verification")
      ->check(unsigned_number())
      ->capture_default_str();
  sub->add_option("--seed", options->settings.seed, "seed of the searches")->check(unsigned_number());
  sub->add_flag("--brief", options->brief, "print the answer without the steps");
  sub->add_flag("--json", options->json, "print JSON");
  sub->footer(
      "Exit codes: 0 identified, 1 no hypothesis fits, 4 not enough answers.\n"
      "Example: mmafuzz identify --unit plugin:./mine.so --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16'");
  sub->callback([options, &status] { status = run_identify(*options); });
}

}  // namespace mmafuzz::cli
