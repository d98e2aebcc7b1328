// mmafuzz check: compares a unit with the recorded results of case files.
#include <fmt/core.h>

#include <bit>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/run_files.h"
#include "core/text.h"
#include "core/property.h"
#include "core/ulps.h"

namespace mmafuzz::cli {
namespace {

std::string hex_results(const Op& op, const Column& column, size_t index) {
  std::string text;
  for (int i = 0; i < column.count(); ++i) text += (i ? " " : "") + to_hex(op.result_format(i), column.get(index, i));
  return text;
}

/// The name of element `e` of a result: "d[1,2]" of a matrix, "scale" or "code 3" of a block; indices count from 0.
std::string element_name(const Op& op, int e) {
  if (op.kind == OpKind::gemm) return fmt::format("d[{},{}]", e / op.n, e % op.n);
  if (op.kind != OpKind::quantize) return fmt::format("number {}", e);
  return e == 0 ? "scale" : fmt::format("code {}", e - 1);
}

/// Counts the elements that differ from what was expected, by their distance (ulp_gap): 0 (encodings of one number, as
/// of 0), 1, 2, 3-4, 5-8, ... 65536 ulp, more; and apart those where one is an infinity or NaN. Flags are not counted.
class UlpHistogram {
 public:
  void add(const FormatFields& d, uint64_t expected, uint64_t got) {
    const uint64_t distance = ulp_gap(d, expected, got);
    constexpr uint64_t far = uint64_t{1} << 16;  // beyond it the distance says nothing more
    if (distance == UINT64_MAX) ++special_;
    else if (distance > far) ++far_;
    else ++counts_[distance <= 1 ? distance : uint64_t{1} << std::bit_width(distance - 1)];
  }
  void print() const {
    if (counts_.empty() && far_ == 0 && special_ == 0) return;
    uint64_t most = std::max(far_, special_);
    for (const auto& [greatest, count] : counts_) most = std::max(most, count);
    fmt::print("results that differ, by their distance in ulp\n");
    const auto bar = [&](const std::string& name, uint64_t count) {
      constexpr uint64_t width = 40;
      const uint64_t length = std::max<uint64_t>(1, count * width / most);
      fmt::print("{:>15}  {:>9}  {}\n", name, count, std::string(static_cast<size_t>(length), '#'));
    };
    for (const auto& [greatest, count] : counts_)
      bar(greatest <= 2 ? std::to_string(greatest) : fmt::format("{}-{}", greatest / 2 + 1, greatest), count);
    if (far_) bar("over 65536", far_);
    if (special_) bar("infinity or NaN", special_);
  }

 private:
  std::map<uint64_t, uint64_t> counts_;  ///< keyed by the greatest distance that a bar stands for, in ulp
  uint64_t far_ = 0, special_ = 0;       ///< elements beyond 65536 ulp; elements with an infinity or NaN
};

/// Compares what units computed with the results in files. A case is checked if it has a result or must be answered
/// (below). The unit answers, fails (breaks) or has no answer. Cases of ops that it declines do not come here.
struct Checker {
  bool json = false;
  /// Numbers of cases. cases: checked, and answered or failed; mismatches: of these, failed, or with another result or
  /// other flags; without_result: not checked; unanswered: checked, but without an answer; flags_not_compared: the file
  /// has flags of the case, the unit reports none.
  uint64_t cases = 0, mismatches = 0, without_result = 0, unanswered = 0, flags_not_compared = 0;
  AnswerCounts answers;  ///< to the cases that are checked, by unit and op
  UlpHistogram ulps;
  nlohmann::json list = nlohmann::json::array();

  static nlohmann::json entry(const std::string& file, const CaseBlock& block, size_t i, const Unit& unit,
                              const std::string& expected, const std::string& got) {
    return {{"file", file},
            {"line", block.line[i]},
            {"unit", unit.name()},
            {"op", to_text(block.batch.op())},
            {"case", case_line(block.batch, i)},
            {"expected", expected},
            {"got", got}};
  }

  /// Prints the first four elements that differ, each with its name. `differing`: the indices of all that do.
  static void print_elements(const std::string& file, const CaseBlock& block, size_t i, const Unit& unit,
                             const Outcomes& outcomes, const std::vector<int>& differing) {
    constexpr size_t most = 4;
    const Op& op = block.batch.op();
    fmt::print("{}:{}: {} of {} elements differ from {}\n", file, block.line[i], differing.size(), op.result().count,
               unit.name());
    for (size_t j = 0; j < std::min(most, differing.size()); ++j) {
      const int e = differing[j];
      const Format& format = op.result_format(e);
      fmt::print("  {}: expected {}, got {}\n", element_name(op, e), to_hex(format, block.expected.get(i, e)),
                 to_hex(format, outcomes.results.get(i, e)));
    }
    if (differing.size() > most) fmt::print("  and {} more\n", differing.size() - most);
  }

  void operator()(const std::string& file, const CaseBlock& block, const Unit& unit, const Outcomes& outcomes) {
    const Op& op = block.batch.op();
    const int elements = op.result().count;
    AnswerCount& count = answers[on_op(unit.name(), op)];
    for (size_t i = 0; i < block.batch.size(); ++i) {
      // A witness of the property `answers` ("answers UNIT", from promote) may have no result: the unit must not fail.
      const bool must_answer = block.property.starts_with("answers ");
      if (!block.has_expected[i] && !must_answer) {
        ++without_result;
        continue;
      }
      ++count.asked;
      if (outcomes.has_failed(i)) {
        ++count.failed;
        ++cases;
        ++mismatches;
        const std::string expected =
            block.has_expected[i] ? hex_results(op, block.expected, i) : std::string("an answer");
        if (json) list.push_back(entry(file, block, i, unit, expected, ""));
        else if (elements > 1) fmt::print("{}:{}: {} fails\n", file, block.line[i], unit.name());
        else fmt::print("{}:{}: expected {}, {} fails\n", file, block.line[i], expected, unit.name());
        continue;
      }
      if (!outcomes.has_answer(i)) {
        ++unanswered;
        continue;
      }
      ++cases;
      ++count.answered;
      if (!block.has_expected[i]) continue;
      std::vector<int> differing;
      const int first = first_difference(block.batch, block.expected, outcomes.results, i);
      for (int j = first; j >= 0 && j < elements; ++j) {
        const uint64_t expected = block.expected.get(i, j), got = outcomes.results.get(i, j);
        if (same_result(block.batch, i, expected, got, j)) continue;
        differing.push_back(j);
        ulps.add(op.result_format(j).fields(), expected, got);
      }
      flags_not_compared += block.has_flags[i] && outcomes.flags.empty();
      const bool flags_differ = block.has_flags[i] && !outcomes.flags.empty() &&
                                !same_flags(block.batch, i, outcomes.flags[i], block.expected_flags[i]);
      if (differing.empty() && !flags_differ) continue;
      ++mismatches;
      std::string expected = hex_results(op, block.expected, i), got = hex_results(op, outcomes.results, i);
      if (flags_differ) {
        expected += fmt::format(" flags {:02x}", block.expected_flags[i]);
        got += fmt::format(" flags {:02x}", outcomes.flags[i]);
      }
      if (json) list.push_back(entry(file, block, i, unit, expected, got));
      else if (elements > 1) print_elements(file, block, i, unit, outcomes, differing);
      else fmt::print("{}:{}: expected {}, {} gives {}\n", file, block.line[i], expected, unit.name(), got);
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
                  "unit to check (default: the model of each file's unit line; ieee for scalar and convert cases, "
                  "exact for blocks)");
  sub->add_option("files", options->files, "case files, - for standard input")->required();
  sub->add_flag("--skip-declined", options->skip_declined, "count the cases of ops that the unit declines, and go on");
  sub->add_flag("--json", options->json, "print one JSON object");
  add_rows_option(*sub);
  sub->footer("Example: mmafuzz check corpus/published/*.cases");
  sub->callback([options, &status] {
    Checker checker;
    checker.json = options->json;
    uint64_t declined = 0;
    const auto summary = [&] {
      if (options->json) {
        print_object({{"cases", checker.cases},
                      {"mismatches", checker.mismatches},
                      {"without_result", checker.without_result},
                      {"unanswered", checker.unanswered},
                      {"declined", declined},
                      {"flags_not_compared", checker.flags_not_compared},
                      {"list", checker.list}});
        return;
      }
      const auto left_out = [](uint64_t count, const char* which) {
        if (count) fmt::print("{} {} {} not compared\n", counted(count, "case"), which, count == 1 ? "was" : "were");
      };
      left_out(checker.without_result, "without a result");
      left_out(checker.unanswered, "that the unit has no answer for");
      left_out(declined, "of ops that the unit declines");
      if (checker.flags_not_compared)
        fmt::print("the flags of {} were not compared: the unit reports none\n",
                   counted(checker.flags_not_compared, "case"));
      checker.ulps.print();
      fmt::print("{}, {}\n", counted(checker.cases, "case"), counted(checker.mismatches, "mismatch"));
    };
    try {
      run_files(options->files, options->unit, std::ref(checker), options->skip_declined ? &declined : nullptr);
    } catch (const BadInput&) {
      if (checker.cases) summary();
      throw;
    }
    summary();
    status = judge_answers(checker.answers, checker.mismatches ? exit_divergence : exit_ok);
    if (checker.cases == 0) throw BadInput("nothing was compared: no case had a result that the unit takes");
  });
}

}  // namespace mmafuzz::cli
