// The mmafuzz command.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/command.h"
#include "core/contradiction.h"
#include "gpu_bridge/register.h"
#include "oracles/families.h"

namespace mmafuzz::cli {

const Registry& registry() {
  static const Registry all = [] {
    Registry r = oracle_registry();
    add_device_units(r);
    return r;
  }();
  return all;
}

Op op_from_text(const std::string& text) {
  size_t column = 0;
  const std::string words = text.starts_with("op ") ? text.substr(3) : text;
  Result<Op> op = parse_op(words, column);
  if (!op) throw BadInput("op '" + text + "': " + op.refusal().reason);
  return *op;
}

std::unique_ptr<Unit> bind_or_fail(const std::string& name, const Op& op) {
  Result<std::unique_ptr<Unit>> unit = registry().bind(name, op);
  if (!unit) throw BadInput((unit.refusal().kind == Refusal::Kind::declined ? "unit " + name + " declines: " : "") + unit.refusal().reason);
  return std::move(*unit);
}

std::vector<std::string> split_units(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    size_t begin = 0;
    while (begin <= argument.size()) {
      const size_t end = std::min(argument.find(',', begin), argument.size());
      const std::string part = argument.substr(begin, end - begin);
      const bool is_override = !names.empty() && begin > 0 && names.back().find('?') != std::string::npos &&
                               part.find('=') < part.find_first_of(":/?");  // on=model:... overrides too
      if (is_override) {
        names.back() += "," + part;
      } else {
        names.push_back(part);
      }
      begin = end + 1;
    }
  }
  return names;
}

CLI::Validator unsigned_number() {
  return CLI::Validator(
      [](std::string& text) {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return digits ? std::string() : "'" + text + "' is not a whole number of 0 or more";
      },
      "UINT");
}

}  // namespace mmafuzz::cli

int main(int argc, char** argv) {
  using namespace mmafuzz::cli;
  CLI::App app{"mmafuzz: differential fuzzing of matrix units against exact, IEEE 754 and bit-accurate models"};
  app.set_version_flag("--version", std::string("mmafuzz ") + tool_version);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 nothing to fail on, 1 a contract divergence or a mismatch, 2 the call or an input was wrong,\n"
             "3 the product contradicts itself.");
  int status = exit_ok;
  add_list(app, status);
  add_eval(app, status);
  add_check(app, status);
  add_explain(app, status);
  add_fuzz(app, status);
  add_campaign(app, status);
  add_campaign_worker(app, status);
  add_triage(app, status);
  add_minimize(app, status);
  add_findings(app, status);
  add_merge(app, status);
  add_report(app, status);
  add_promote(app, status);
  add_sweep(app, status);
  add_record(app, status);
  add_survey(app, status);
  add_device_child(app, status);
  add_bench(app, status);
  try {
    if (argc > 1 && argv[1][0] != '-') {
      std::string known;
      bool found = false;
      for (const CLI::App* sub : app.get_subcommands({})) {
        if (!sub->get_group().empty()) known += " " + sub->get_name();
        found = found || sub->get_name() == argv[1];
      }
      if (!found) throw BadInput(std::string("unknown subcommand '") + argv[1] + "'; known:" + known);
    }
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "mmafuzz: {}; see mmafuzz --help\n", e.what());
    return exit_bad_input;
  } catch (const mmafuzz::Contradiction& e) {
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: CONTRADICTION, no result of this run is to be trusted; please report it: {}\n", e.what());
    return exit_contradiction;
  } catch (const BadInput& e) {
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: {}\n", e.what());
    return exit_bad_input;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    fmt::print(stderr, "mmafuzz: {}\n", e.what());
    return exit_bad_input;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "mmafuzz: standard output: {}\n", std::strerror(errno));
    return exit_bad_input;
  }
  return status;
}
