// mmafuzz eval: the cases of files with a unit's results, as case text.
#include "cli/run_files.h"

namespace mmafuzz::cli {

void add_eval(Arguments& app, int& status) {
  struct Options {
    std::string unit, output = "-";
    std::vector<std::string> files;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("eval", "Print the cases of files with a unit's results");
  sub->add_option("--unit", options->unit, "unit to evaluate (default: the file's unit line)");
  sub->add_option("-o,--output", options->output, "file to write, .gz compresses (default: standard output)");
  sub->add_option("files", options->files, "case files, - for standard input")->required();
  sub->footer("Example: mmafuzz eval --unit model:hopper/mma.m16n8k16.f32.f16.f16.f32 cases.cases");
  sub->callback([options, &status] {
    CaseWriter writer(options->output);
    const auto flush = [&] { writer.finish(); };
    try {
      run_files(options->files, options->unit,
                [&](const std::string&, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes) {
                  writer.unit(unit.name());
                  writer.op(block.batch.op());
                  for (size_t i = 0; i < block.batch.size(); ++i) writer.one_case(block.batch, i, &outcomes);
                });
    } catch (const BadInput&) {
      flush();  // nothing before a malformed line is lost
      throw;
    }
    flush();
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
