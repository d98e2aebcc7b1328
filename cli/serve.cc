// mmafuzz serve: any unit as a process, for another mmafuzz (docs/processes.md).
#include "cli/command.h"
#include "oracles/units/serve_unit.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {

void add_serve(Arguments& app, int& status) {
  auto unit = std::make_shared<std::string>();
  Arguments* sub = app.add_subcommand("serve", "Answer as a process unit with any unit, here or over ssh");
  sub->add_option("unit", *unit, "unit to answer with")->required();
  add_rows_option(*sub);
  sub->footer("Example: mmafuzz check --unit 'process:ssh lab mmafuzz serve cpu:fma.f32' cases.cases");
  sub->callback([unit, &status] {
    if (const NamedRow* own = find_named_row(*unit)) *unit = unit_of_named_row(*unit, own->op);
    if (!registry().knows(*unit)) bind_or_fail(*unit, Op());  // names the nearest units
    status = serve_unit(registry(), *unit);
  });
}

}  // namespace mmafuzz::cli
