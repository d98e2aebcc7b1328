// mmafuzz sweep: compares a device unit with its model on as many dots as the device can take; or, with the same
// generator on the host, a model's mutant with the model.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "arithmetic/evaluate_dot.h"
#include "cli/command.h"
#include "plan/named_rows.h"
#include "core/case_text.h"
#include "gpu_bridge/families/device_sweep.h"
#include "gpu_bridge/register.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t max_shown = 20;  ///< divergences that are printed

struct SweepOptions {
  std::string unit, op, reference, output;
  uint64_t seed = 1, cases = 0;
  double time = 0;
  bool json = false;
};

/// The user's own row that --unit names: the only one of that name, or that of --op. nullptr where --unit is no such
/// name; throws BadInput where --op is missing or does not fit.
const NamedRow* row_to_sweep(const SweepOptions& options) {
  const std::vector<const NamedRow*> rows = find_named_rows(options.unit);
  if (rows.empty() && !options.op.empty())
    throw BadInput("--op chooses a row of one name: " + options.unit + " is none");
  if (rows.empty() || (rows.size() == 1 && options.op.empty())) return rows.empty() ? nullptr : rows.front();
  std::string ops;
  for (const NamedRow* row : rows) {
    if (!options.op.empty() && op_from_text(options.op) == row->op) return row;
    ops += (ops.empty() ? "'" : ", '") + op_words(row->op) + "'";
  }
  throw BadInput("sweep takes one row of " + rows.front()->name + ": give --op with one of " + ops);
}

SweepSubject host_subject(const SweepOptions& options, const UnitName& unit) {
  const ModelRow* row = unit.backend == "model" ? find_model_row(unit.path) : nullptr;
  const NamedRow* named = row_to_sweep(options);
  if (!row && !named) throw BadInput("sweep takes a cuda: unit or a model: row, not '" + options.unit + "'");
  SweepSubject s;
  s.op = row ? row->op : named->op;
  s.unit = bind_or_fail(options.unit, s.op);
  if (!s.unit->model()) throw BadInput("sweep takes rows; " + named->name + " is " + s.unit->name());
  s.reference = bind_or_fail(!options.reference.empty() ? options.reference : row ? unit.plain() : named->name, s.op);
  s.request.shape = host_sweep_shape(s.op);
  const DotModel instead = *s.unit->model();
  s.engine = [instead](const SweepRequest& request, const std::vector<SweepDot>& parents) {
    return sweep_on_host(request, parents, [&](const DotOperands& in) { return evaluate_dot(instead, in); });
  };
  if (const Result<bool> modelled = set_sweep_model(s); !modelled) throw BadInput(modelled.refusal().reason);
  return s;
}

SweepSubject subject_of(const SweepOptions& options) {
  const UnitName unit(options.unit);
  if (unit.backend != "cuda") return host_subject(options, unit);
  if (!options.op.empty()) throw BadInput("--op chooses a row of one name: " + options.unit + " is none");
  // Sweep and unit share one child process, which has the device's only context.
  const auto child = make_device_child();
  Registry units = oracle_registry();
  add_device_units(units, child);
  Result<SweepSubject> subject = device_sweep(units, child, options.unit, options.reference);
  if (!subject) throw BadInput(subject.refusal().reason);
  return std::move(*subject);
}

int run_sweep(const SweepOptions& options) {
  if ((options.cases > 0) == (options.time > 0)) throw BadInput("give --cases or --time");
  SweepSubject subject = subject_of(options);
  subject.request.seed = options.seed;
  SweepRun sweep(subject.request, subject.op, *subject.unit, subject.engine, subject.first_epoch,
                 subject.greatest_epoch);
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const uint64_t cells = static_cast<uint64_t>(subject.request.shape.cells());
  const uint64_t tiles = options.cases ? (options.cases + cells - 1) / cells : UINT64_MAX;
  Batch single(subject.op, 1);
  size_t shown = 0;
  std::string lost;
  while (sweep.dots() / cells < tiles && (options.cases || elapsed() < options.time)) {
    try {
      sweep.epoch(tiles - sweep.dots() / cells);
      if (sweep.unanswered_dots()) throw DeviceLost("when divergent tiles ran again");
    } catch (const DeviceLost& e) {
      lost = e.what();
      break;
    }
    for (; shown < sweep.divergences().size() && shown < max_shown && !options.json; ++shown) {
      const SweepDivergence& d = sweep.divergences()[shown];
      sweep.put(d.dot, single, 0);
      fmt::print("divergence: {}\n    {}\n    {} against {}\n", to_text(subject.op), case_line(single, 0),
                 to_hex(subject.op.d, d.got), to_hex(subject.op.d, d.expected));
    }
  }
  if (!options.output.empty()) {
    CaseWriter writer(options.output);
    writer.comment("mmafuzz sweep --unit " + options.unit + " --seed " + std::to_string(options.seed));
    writer.unit(subject.unit->name());
    writer.op(subject.op);
    Outcomes result;
    result.results = Column(subject.op.d, 1);
    result.results.resize(1);
    for (const SweepDivergence& d : sweep.divergences()) {
      sweep.put(d.dot, single, 0);
      result.results.set(0, 0, d.got);
      writer.one_case(single, 0, &result);
    }
    writer.finish();
  }
  const double rate = sweep.seconds() > 0 ? double(sweep.dots()) / sweep.seconds() : 0;
  if (options.json) {
    print_object({{"unit", subject.unit->name()},
                  {"reference", subject.reference ? subject.reference->name() : "integer sum"},
                  {"seed", options.seed},
                  {"dots", sweep.dots()},
                  {"operand_vectors", sweep.vectors()},
                  {"divergent", sweep.divergent_dots()},
                  {"unstable", sweep.unstable_dots()},
                  {"bins", sweep.bins()},
                  {"seconds", sweep.seconds()},
                  {"dots_per_second", rate},
                  {"lost", lost}});
  } else {
    fmt::print("{} of {}, {} divergent ({} of them unstable), {}, seed {}; {:.2e} dots a second\n",
               counted(sweep.dots(), "dot"), counted(sweep.vectors(), "operand vector"), sweep.divergent_dots(),
               sweep.unstable_dots(), counted(sweep.bins(), "bin"), options.seed, rate);
  }
  if (!lost.empty()) fmt::print(stderr, "mmafuzz: device lost during the sweep at dot {}: {}\n", sweep.dots(), lost);
  return sweep.divergent_dots() ? exit_divergence : lost.empty() ? exit_ok : exit_bad_input;
}

}  // namespace

void add_sweep(Arguments& app, int& status) {
  auto options = std::make_shared<SweepOptions>();
  Arguments* sub = app.add_subcommand("sweep", "Compare a device unit with its model at the speed of the device");
  sub->add_option("--unit", options->unit, "a cuda: unit, or a model: unit with overrides in its place")->required();
  sub->add_option("--op", options->op, "where --unit is a name of --rows with several rows: the op line of one");
  sub->add_option("--reference", options->reference, "model to compare with (default: the one that the unit claims)");
  sub->add_option("--seed", options->seed, "seed of the generator")->check(unsigned_number());
  sub->add_option("--cases", options->cases, "dots to compare, rounded up to whole tiles")->check(positive_count());
  sub->add_option("--time", options->time, "seconds, instead of --cases")->check(positive_number());
  sub->add_option("-o,--output", options->output, "file for the divergent cases");
  sub->add_flag("--json", options->json, "print one JSON object");
  add_rows_option(*sub);
  sub->footer(
      "Same seed and --cases N: the same findings.\n"
      "Example: mmafuzz sweep --unit model:hopper/mma.m16n8k16.f32.f16.f16.f32?fraction_bits=24 --seed 1 --cases "
      "100000");
  sub->callback([options, &status] { status = run_sweep(*options); });
}

void add_device_child(Arguments& app, int& status) {
  Arguments* sub =
      app.add_subcommand("device-child", "one device, on behalf of device units; speaks on standard input")->group("");
  sub->callback([&status] { status = device::serve(STDIN_FILENO, open_device()); });
}

}  // namespace mmafuzz::cli
