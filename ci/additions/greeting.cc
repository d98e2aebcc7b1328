// A subcommand that a stranger adds: mmafuzz greeting.
#include <fmt/core.h>

#include "cli/command.h"

namespace mmafuzz::cli {

void add_greeting(Arguments& app, int& status) {
  Arguments* sub = app.add_subcommand("greeting", "Say how many units there are");
  sub->callback([&status] {
    fmt::print("{} units\n", registry().list().size());
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
