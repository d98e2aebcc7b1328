// mmafuzz serve: answers as a process unit for another mmafuzz, with any unit (docs/processes.md).
#include "cli/command.h"
#include "oracles/units/serve_unit.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {
namespace {

/// The unit for an op. The name of a user's own row (--rows) is declined for ops of other formats than the row's.
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
    if (const NamedRow* row = find_named_row(*unit)) bind_or_fail(*unit, row->op);  // throws on wrong settings
    else if (!registry().knows(*unit)) bind_or_fail(*unit, Op());  // throws, and names the nearest units
    status = serve_unit(*unit, [&](const Op& op) { return unit_to_serve(*unit, op); });
  });
}

}  // namespace mmafuzz::cli
