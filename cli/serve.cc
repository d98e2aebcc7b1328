// mmafuzz serve: any unit as a process, for another mmafuzz (docs/processes.md).
#include "cli/command.h"
#include "oracles/units/serve_unit.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {

namespace {

/// A row of one's own answers on its op's formats alone.
Result<std::unique_ptr<Unit>> unit_to_serve(const std::string& name, const Op& op) {
  if (!find_named_row(name)) return registry().bind(name, op);
  const std::string unit = unit_of_named_row(name, op);
  if (unit.empty()) return declined("no row of " + name + " is for '" + to_text(op) + "'");
  return registry().bind(unit, op);
}

}  // namespace

void add_serve(Arguments& app, int& status) {
  auto unit = std::make_shared<std::string>();
  Arguments* sub = app.add_subcommand("serve", "Answer as a process unit with any unit, here or over ssh");
  sub->add_option("unit", *unit, "unit to answer with")->required();
  add_rows_option(*sub);
  sub->footer("Example: mmafuzz check --unit 'process:ssh lab mmafuzz serve cpu:fma.f32' cases.cases");
  sub->callback([unit, &status] {
    if (const NamedRow* own = find_named_row(*unit)) bind_or_fail(*unit, own->op);  // settings that are wrong are said
    else if (!registry().knows(*unit)) bind_or_fail(*unit, Op());                   // names the nearest units
    status = serve_unit(*unit, [&](const Op& op) { return unit_to_serve(*unit, op); });
  });
}

}  // namespace mmafuzz::cli
