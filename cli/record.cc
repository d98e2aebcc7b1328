// mmafuzz record: writes the cases of files with a unit's results, and where these come from.
#include <ctime>
#include <optional>

#include "cli/run_files.h"
#include "core/text.h"
#include "gpu_bridge/device/device_child.h"
#include "plan/version.h"

namespace mmafuzz::cli {
void add_record(Arguments& app, int& status) {
  struct Options {
    std::string unit, output = "-", seed;
    std::vector<std::string> files;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub =
      app.add_subcommand("record", "Write the cases of files with a unit's results, device, driver and date");
  sub->add_option("--unit", options->unit, "unit to record, as cuda:mma.m16n8k16.f32.f16.f16.f32")->required();
  sub->add_option("-o,--output", options->output, "file to write, .gz compresses (default: standard output)");
  sub->add_option("--seed", options->seed, "seed that the cases were drawn with, for the record")
      ->check(unsigned_number());
  sub->add_option("files", options->files, "case files, - for standard input")->required();
  add_rows_option(*sub);
  sub->footer(
      "Cases of ops that the unit does not take are left out; it is an error if none is left.\n"
      "Example: mmafuzz record --unit cuda:mma.m16n8k16.f32.f16.f16.f32 cases.cases -o recorded.cases");
  sub->callback([options, &status] {
    std::string device;
    if (registry().role_of(options->unit) == Role::device) {
      const Result<DeviceInfo> info = make_device_child()->info();
      if (!info) throw BadInput("unit " + options->unit + " declines: " + info.refusal().reason);
      device = to_text(*info);
    }
    std::optional<CaseWriter> writer;  // nullopt until the unit answers a case
    const auto begin = [&] {
      writer.emplace(options->output);
      writer->comment("recorded " + utc_text(std::time(nullptr), day_format) + " by mmafuzz " + version_number() +
                      (options->seed.empty() ? "" : ", seed " + options->seed));
      if (!device.empty()) writer->comment("device " + device);
    };
    std::string refusal, recorded;  // the last refusal's reason; the name on the last unit line that was written
    Outcomes outcomes;
    AnswerCounts answers;
    const auto record = [&](const CaseBlock& block) {
      const Result<std::unique_ptr<Unit>> unit = registry().bind(options->unit, block.batch.op());
      if (!unit) {
        if (unit.refusal().kind != Refusal::Kind::declined) throw BadInput(unit.refusal().reason);
        refusal = unit.refusal().reason;
        return;
      }
      (*unit)->run(block.batch, outcomes);
      const std::string& name = (*unit)->name();
      AnswerCount& count = answers[name];
      const uint64_t answered_before = count.answered;
      count.add(outcomes);
      if (count.answered == answered_before) return;
      if (!writer) begin();
      if (name != recorded) writer->unit(recorded = name);
      writer->op(block.batch.op());
      for (size_t i = 0; i < block.batch.size(); ++i)
        if (outcomes.has_answer(i)) writer->one_case(block.batch, i, &outcomes);
    };
    for (const std::string& file : options->files) visit_cases(file, block_cases, record);
    if (writer) writer->finish();
    status = judge_answers(answers, exit_ok);
    if (!writer) throw BadInput("nothing was recorded" + (refusal.empty() ? "" : ": " + refusal));
  });
}

}  // namespace mmafuzz::cli
