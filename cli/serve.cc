// mmafuzz serve: any unit as a process, for another mmafuzz (docs/processes.md).
#include "cli/command.h"
#include "oracles/units/serve_unit.h"

namespace mmafuzz::cli {

void add_serve(Arguments& app, int& status) {
  auto unit = std::make_shared<std::string>();
  Arguments* sub = app.add_subcommand("serve", "Answer as a process unit with any unit, here or over ssh");
  sub->add_option("unit", *unit, "unit to answer with")->required();
  sub->footer("Example: mmafuzz check --unit 'process:ssh lab mmafuzz serve cpu:fma.f32' cases.cases");
  sub->callback([unit, &status] {
    if (!registry().knows(*unit)) bind_or_fail(*unit, Op());  // names the nearest units
    status = serve_unit(registry(), *unit);
  });
}

}  // namespace mmafuzz::cli
