#include "cli/command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "campaign/interrupt.h"
#include "campaign/plan.h"
#include "core/json_text.h"
#include "plan/named_rows.h"

namespace mmafuzz::cli {
namespace {

/// A message in which any piece of more than 200 characters that repeats an argument is cut to 200.
std::string shortened(const std::string& message, int argc, char** argv) {
  constexpr size_t most = 200;
  std::string shown;
  for (size_t at = 0; at < message.size();) {
    const std::string_view rest = std::string_view(message).substr(at);
    size_t repeated = 0;
    for (int i = 1; i < argc && rest.size() > most; ++i) {
      const std::string_view argument = argv[i];
      const size_t found = argument.find(rest.substr(0, most + 1));
      if (found == argument.npos) continue;
      const std::string_view same = argument.substr(found);
      const auto [end, of_argument] = std::mismatch(rest.begin(), rest.end(), same.begin(), same.end());
      repeated = std::max(repeated, static_cast<size_t>(end - rest.begin()));
    }
    shown += repeated ? std::string(rest.substr(0, most)) + "..." : std::string(1, rest[0]);
    at += std::max<size_t>(1, repeated);
  }
  return shown;
}

}  // namespace

int run_line(CommandLine& line, int argc, char** argv, const int& status) {
  const auto end = [&](int code, const std::string& message) {
    std::fflush(stdout);
    std::string text = shortened(message, argc, argv);
    std::replace(text.begin(), text.end(), '\n', '?');  // of a file's name, say: a message is one line
    fmt::print(stderr, "mmafuzz: {}\n", text);
    return code;
  };
  try {
    line.parse(argc, argv);
  } catch (const std::logic_error& e) {  // a Contradiction, or another invariant that does not hold
    return end(exit_contradiction,
               "CONTRADICTION, no result of this run is to be trusted; please report it: " + std::string(e.what()));
  } catch (const Interrupted& e) {
    return end(exit_interrupted, e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    std::string files;
    for (const std::filesystem::path& path : {e.path1(), e.path2()})
      if (!path.empty()) files += path.string() + ": ";
    return end(exit_bad_input, files + e.code().message());
  } catch (const std::exception& e) {
    return end(exit_bad_input, e.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "mmafuzz: standard output: {}\n", std::strerror(errno));
    return exit_bad_input;
  }
  return status;
}

void add_rows_option(Arguments& command) {
  command
      .add_taken_option("--rows", take_rows,
                        "file of rows of one's own, as `identify --save` writes it: their names stand for units")
      ->allow_extra_args(false);
}

Argument* add_knowledge_option(Arguments& command, std::string& folder, const std::string& help) {
  folder = default_knowledge_folder();
  return command.add_option("--knowledge", folder, help)->capture_default_str();
}

Knowledge known_facts(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    fmt::print(stderr, "mmafuzz: every fact counts as new: {}; --knowledge names another folder of known facts\n",
               folder.empty() ? "the folder corpus/knowledge is not found" : folder + " is no folder");
  return Knowledge(folder);
}

void print_object(nlohmann::json object) {
  object["json_version"] = json_version;
  fmt::print("{}", json_text(object));
}

}  // namespace mmafuzz::cli
