// mmafuzz help-pages: manual pages and completion as files, for the installation.
#include <filesystem>

#include "cli/command.h"
#include "core/replace_file.h"
#include "plan/help_pages.h"
#include "plan/version.h"

namespace mmafuzz::cli {

void add_help_pages(Arguments& app, int& status) {
  auto folder = std::make_shared<std::string>();
  Arguments* sub = app.add_subcommand("help-pages", "Write manual pages and completion into a folder")->group("");
  sub->add_option("folder", *folder, "receives man1/*.1 and mmafuzz.bash")->required();
  sub->callback([folder, &app, &status] {
    std::filesystem::create_directories(*folder + "/man1");
    for (const ManualPage& page : manual_pages(app, version_text()))
      replace_file(*folder + "/man1/" + page.name + ".1", page.text);
    replace_file(*folder + "/mmafuzz.bash", bash_completion(app));
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
