// The option --rows of the commands that docs/identify.md names ("The answer").
#include "cli/command.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {

void add_rows_option(Arguments& command) {
  command
      .add_option("--rows", take_rows,
                  "file of rows of one's own, as `identify --save` writes it: their names stand for units")
      ->allow_extra_args(false);
}

}  // namespace mmafuzz::cli
