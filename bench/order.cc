// mmafuzz bench order: time and questions to reveal orders of summation, in batches with guesses, and as FPRev asks:
// one question at a time, without assuming that parts of the order are alike. Both run on the same unit, one after the
// other.
#include <fmt/core.h>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "identify/order.h"

namespace mmafuzz {
namespace {

struct OrderBench {
  std::vector<std::string> units;
  std::vector<uint64_t> sizes = {64, 256, 1024};
  std::string formats = "a=fp32 b=fp32 c=fp32 d=fp32";
  OrderSettings settings;
  MeasuredRows rows;
};

/// Runs one case in advance, so that no measurement includes the start of a unit's process.
void warm_up(const Unit& unit, const Op& op) {
  Batch batch(op, 1);
  unit.outcomes_of(batch);
}

int run_order_bench(OrderBench& options) {
  int status = exit_ok;
  options.rows.say(fmt::format("{:<40} {:>5} {:>9} {:>6} {:>8} {:>9} {:>8} {:>8} {:>7} {:>8}  {}", "unit", "k",
                               "questions", "rounds", "s", "FPRev's", "s", "replayed", "differ", "unstable", "order"));
  for (const std::string& name : options.units)
    for (const uint64_t k : options.sizes) {
      const Op op = op_from_text("dot " + options.formats + " k=" + std::to_string(k) + " nan=any");
      const std::unique_ptr<Unit> unit = bind_or_fail(name, op);
      warm_up(*unit, op);
      const RevealedOrder ours = reveal_order(*unit, op, options.settings);
      OrderSettings one_by_one = options.settings;
      one_by_one.asks_one_by_one = true;
      one_by_one.verify = 0;
      const RevealedOrder theirs = reveal_order(*unit, op, one_by_one);
      std::string order = ours.tree ? folded_tree(*ours.tree) : ours.reason;
      if (order.size() > 100) order = order.substr(0, 97) + "...";
      options.rows.add({{"unit", name},
                        {"op", to_text(op)},
                        {"questions", ours.questions},
                        {"rounds", ours.rounds},
                        {"seconds", ours.reveal_seconds},
                        {"fprev_questions", theirs.questions},
                        {"fprev_seconds", theirs.reveal_seconds},
                        {"replayed", ours.replayed},
                        {"differing", ours.differing},
                        {"unstable", ours.unstable},
                        {"order", ours.tree ? folded_tree(*ours.tree) : ""},
                        {"reason", ours.tree ? "" : ours.reason}},
                       fmt::format("{:<40} {:>5} {:>9} {:>6} {:>8.3f} {:>9} {:>8.3f} {:>8} {:>7} {:>8}  {}", name, k,
                                   ours.questions, ours.rounds, ours.reveal_seconds, theirs.questions,
                                   theirs.reveal_seconds, ours.replayed, ours.differing, ours.unstable, order));
      if (!ours.tree || ours.differing) status = exit_divergence;
    }
  options.rows.end();
  return status;
}

}  // namespace

void add_bench_order(Arguments& bench, int& status) {
  auto options = std::make_shared<OrderBench>();
  Arguments* sub = bench.add_subcommand("order", "Orders of summation: questions and time beside FPRev's way");
  sub->add_option("--units", options->units, "units, each with its own --units")->required();
  sub->add_option("--k", options->sizes, "lengths of the dots (default 64 256 1024)");
  sub->add_option("--formats", options->formats, "formats of the dots (default fp32)");
  sub->add_option("--replay", options->settings.verify, "random vectors to replay (default 100000)")
      ->check(unsigned_number());
  options->rows.add_json_flag(*sub);
  sub->footer(
      "Exit code 1 if an order is not revealed, or does not replay bit for bit.\n"
      "Example: mmafuzz bench order --units ieee:serial ieee:pairwise --k 64 --replay 1000");
  sub->callback([options, &status] { status = run_order_bench(*options); });
}

}  // namespace mmafuzz
