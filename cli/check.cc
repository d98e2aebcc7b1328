// mmafuzz check: compares a unit with the recorded results of case files.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "cli/run_files.h"
#include "core/property.h"

namespace mmafuzz::cli {
namespace {

std::string hex_results(const FieldShape& field, const Column& column, size_t index) {
  std::string text;
  for (int i = 0; i < field.count; ++i) text += (i ? " " : "") + to_hex(field.format, column.get(index, i));
  return text;
}

struct Checker {
  bool json = false;
  uint64_t cases = 0, mismatches = 0, without_result = 0, unanswered = 0;
  nlohmann::json list = nlohmann::json::array();

  void operator()(const std::string& file, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes) {
    const FieldShape result = block.batch.op().result();
    for (size_t i = 0; i < block.batch.size(); ++i) {
      if (!block.has_expected[i]) {
        ++without_result;
        continue;
      }
      if (!outcomes.has_answer(i)) {
        ++unanswered;
        continue;
      }
      ++cases;
      bool same = true;
      for (int j = 0; j < result.count; ++j)
        same = same && same_result(block.batch.op(), block.expected.get(i, j), outcomes.results.get(i, j));
      const bool flags_differ = block.has_flags[i] && !outcomes.flags.empty() &&
                                !same_flags(block.batch, i, outcomes.flags[i], block.expected_flags[i]);
      if (same && !flags_differ) continue;
      ++mismatches;
      std::string expected = hex_results(result, block.expected, i), got = hex_results(result, outcomes.results, i);
      if (flags_differ) {
        expected += fmt::format(" flags {:02x}", block.expected_flags[i]);
        got += fmt::format(" flags {:02x}", outcomes.flags[i]);
      }
      if (json) {
        list.push_back({{"file", file},
                        {"line", block.line[i]},
                        {"unit", unit.name()},
                        {"op", to_text(block.batch.op())},
                        {"case", case_line(block.batch, i)},
                        {"expected", expected},
                        {"got", got}});
      } else {
        fmt::print("{}:{}: expected {}, {} gives {}\n", file, block.line[i], expected, unit.name(), got);
      }
    }
  }
};

}  // namespace

void add_check(Arguments& app, int& status) {
  struct Options {
    std::string unit;
    std::vector<std::string> files;
    bool json = false, skip_declined = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("check", "Compare a unit with the recorded results of case files");
  sub->add_option("--unit", options->unit,
                  "unit to check (default: the model of each file's unit line; ieee for scalar and convert cases)");
  sub->add_option("files", options->files, "case files, - for standard input")->required();
  sub->add_flag("--skip-declined", options->skip_declined, "count the cases of ops that the unit declines, and go on");
  sub->add_flag("--json", options->json, "print one JSON object");
  sub->footer("Example: mmafuzz check corpus/published/*.cases");
  sub->callback([options, &status] {
    Checker checker;
    checker.json = options->json;
    uint64_t declined = 0;
    const auto summary = [&] {
      if (options->json) {
        fmt::print("{}\n", nlohmann::json{{"cases", checker.cases},
                                          {"mismatches", checker.mismatches},
                                          {"without_result", checker.without_result},
                                          {"unanswered", checker.unanswered},
                                          {"declined", declined},
                                          {"list", checker.list}}
                               .dump(2));
        return;
      }
      if (checker.without_result) fmt::print("{} cases without a result were not compared\n", checker.without_result);
      if (checker.unanswered)
        fmt::print("{} cases that the unit has no answer for were not compared\n", checker.unanswered);
      if (declined) fmt::print("{} cases of ops that the unit declines were not compared\n", declined);
      fmt::print("{} cases, {} mismatches\n", checker.cases, checker.mismatches);
    };
    try {
      run_files(
          options->files, options->unit, [&](const auto&... args) { checker(args...); },
          options->skip_declined ? &declined : nullptr);
    } catch (const BadInput&) {
      if (checker.cases) summary();
      throw;
    }
    summary();
    if (checker.cases == 0) throw BadInput("nothing was compared: no case had a result that the unit answers");
    status = checker.mismatches ? exit_divergence : exit_ok;
  });
}

}  // namespace mmafuzz::cli
