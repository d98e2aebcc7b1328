#include "bench/search/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>

#include "search/rank_sum.h"

namespace mmafuzz {
namespace {

/// A hard mutant must survive this many cases of each random strategy, and all published vectors.
constexpr uint64_t hard_cases = 10'000'000;
constexpr std::string_view deciding_strategies[] = {"uniform", "normal", "spread", "published"};
bool decides_hardness(const Strategy& s) {
  return std::find(std::begin(deciding_strategies), std::end(deciding_strategies), s.name) !=
         std::end(deciding_strategies);
}

constexpr double censored = INFINITY;  ///< cases or seconds of a run without a kill

/// The value at a quantile of sorted values, without interpolation: a censored value has nothing to interpolate with.
std::string quantile_text(const std::vector<double>& sorted, double q) {
  const double v = sorted[std::min(sorted.size() - 1, size_t(q * double(sorted.size())))];
  return v == censored ? "-"
         : v >= 1e6    ? fmt::format("{:.3g}M", v / 1e6)
         : v >= 1000   ? fmt::format("{:.0f}", v)
                       : fmt::format("{:.3g}", v);
}

std::string quartiles_text(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return fmt::format("{:>9} {:>9} {:>9}", quantile_text(values, 0.25), quantile_text(values, 0.5),
                     quantile_text(values, 0.75));
}

double seconds_of(const MutantRun& r) { return r.killed ? r.seconds : censored; }

void print_table(const MutantBench& bench, bool hard_only) {
  fmt::print("{:<28} {:>8} {:>6} {:>6}  {:^29}  {:^29}\n", hard_only ? "hard flaws" : "all flaws", "killed", "missed",
             "runs", "cases (quartiles)", "seconds (quartiles)");
  for (size_t s = 0; s < bench.strategies.size(); ++s) {
    std::map<size_t, bool> always;  // mutant: killed in every run
    std::vector<double> cases, seconds;
    size_t kills = 0;
    for (const MutantRun& r : bench.runs) {
      if (r.strategy != s || (hard_only && !bench.mutants[r.mutant].is_hard)) continue;
      always.try_emplace(r.mutant, true).first->second &= r.killed;
      cases.push_back(r.killed ? double(r.cases) : censored);
      seconds.push_back(seconds_of(r));
      kills += r.killed;
    }
    if (cases.empty()) continue;
    const auto killed = std::count_if(always.begin(), always.end(), [](const auto& a) { return a.second; });
    fmt::print("{:<28} {:>8} {:>6} {:>5.1f}%  {}  {}\n", bench.strategies[s].name, killed,
               always.size() - size_t(killed), 100.0 * double(kills) / double(cases.size()), quartiles_text(cases),
               quartiles_text(seconds));
  }
}

/// Vargha and Delaney's words for the distance of A12 from one half (J. Educational and Behavioral Statistics 25,
/// 2000).
const char* effect_size(double a12) {
  const double distance = std::fabs(a12 - 0.5);
  return distance < 0.06 ? "negligible" : distance < 0.14 ? "small" : distance < 0.21 ? "medium" : "large";
}

void print_comparisons(const MutantBench& bench, bool hard_only) {
  for (size_t other = 1; other < bench.strategies.size(); ++other) {
    RankSumTest overall;
    size_t faster = 0, slower = 0, mutants = 0;
    for (size_t m = 0; m < bench.mutants.size(); ++m) {
      if (hard_only && !bench.mutants[m].is_hard) continue;
      std::vector<double> mine, theirs;
      for (const MutantRun& r : bench.runs) {
        if (r.mutant != m) continue;
        if (r.strategy == 0) mine.push_back(seconds_of(r));
        if (r.strategy == other) theirs.push_back(seconds_of(r));
      }
      RankSumTest one;
      one.add(mine, theirs);
      overall.add(mine, theirs);
      ++mutants;
      if (one.p_value() < 0.01) ++(one.z() < 0 ? faster : slower);
    }
    fmt::print(
        "{} against {}: first to kill in {:.1f} % of the pairs of runs (Vargha and Delaney's A12 = {:.2f}, {}), p = "
        "{:.2g}; ",
        bench.strategies[0].name, bench.strategies[other].name, 100 * overall.share_smaller(), overall.share_smaller(),
        effect_size(overall.share_smaller()), overall.p_value());
    fmt::print("of {} flaws faster on {}, slower on {} (p < 0.01)\n", mutants, faster, slower);
  }
}

/// The median of one strategy's seconds on one mutant; `censored` if it has no runs.
double median_seconds(const MutantBench& bench, size_t strategy, size_t mutant) {
  std::vector<double> seconds;
  for (const MutantRun& r : bench.runs)
    if (r.mutant == mutant && r.strategy == strategy) seconds.push_back(seconds_of(r));
  if (seconds.empty()) return censored;
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Prints mean ranks over the flaws, by the median time to find each, and the least significant difference of two mean
/// ranks at 5 % (Friedman's test with Nemenyi's: Demsar, JMLR 7, 2006, table 5). q[k] is for k strategies.
void print_ranks(const MutantBench& bench, bool hard_only) {
  const size_t strategies = bench.strategies.size();
  static constexpr double q[] = {0, 0, 1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
  if (strategies < 2 || strategies >= std::size(q)) return;
  std::vector<double> ranks(strategies);
  size_t flaws = 0;
  for (size_t m = 0; m < bench.mutants.size(); ++m) {
    if (hard_only && !bench.mutants[m].is_hard) continue;
    std::vector<double> seconds;
    for (size_t s = 0; s < strategies; ++s) seconds.push_back(median_seconds(bench, s, m));
    if (std::all_of(seconds.begin(), seconds.end(), [](double t) { return t == censored; })) continue;
    ++flaws;
    for (size_t s = 0; s < strategies; ++s) {
      double rank = 1;
      for (size_t other = 0; other < strategies; ++other)
        if (other != s) rank += seconds[other] < seconds[s] ? 1 : seconds[other] == seconds[s] ? 0.5 : 0;
      ranks[s] += rank;
    }
  }
  if (!flaws) return;
  const auto k = static_cast<double>(strategies), n = static_cast<double>(flaws);
  fmt::print("mean rank over the {} flaws that any of them finds; apart at 5 % if they differ by {:.2f} or more\n",
             flaws, q[strategies] * std::sqrt(k * (k + 1) / (6 * n)));
  std::vector<size_t> order(strategies);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return ranks[x] < ranks[y]; });
  for (const size_t s : order) fmt::print("  {:5.2f}  {}\n", ranks[s] / n, bench.strategies[s].name);
  fmt::print("\n");
}

void print_missed(const MutantBench& bench) {
  std::map<size_t, std::pair<size_t, size_t>> missed;  // mutant: runs without a kill, runs
  for (const MutantRun& r : bench.runs) {
    if (r.strategy != 0) continue;
    missed[r.mutant].first += !r.killed;
    ++missed[r.mutant].second;
  }
  for (const auto& [m, count] : missed)
    if (count.first)
      fmt::print("{} misses {} in {} of {} runs\n", bench.strategies[0].name, bench.mutants[m].name, count.first,
                 count.second);
}

/// Prints the marks of the list that these runs contradict. A missing mark is reported only where all strategies that
/// decide hardness ran at least hard_cases cases.
void print_wrong_marks(const MutantBench& bench) {
  const auto deciding = std::count_if(bench.strategies.begin(), bench.strategies.end(), decides_hardness);
  const bool complete =
      deciding == std::ssize(deciding_strategies) && (bench.limits.cases == 0 || bench.limits.cases >= hard_cases);
  std::vector<const MutantRun*> killer(bench.mutants.size());
  std::vector<bool> far_enough(bench.mutants.size(), true);
  for (const MutantRun& r : bench.runs) {
    const Strategy& strategy = bench.strategies[r.strategy];
    if (!decides_hardness(strategy)) continue;
    if (r.killed && r.cases <= hard_cases) killer[r.mutant] = &r;
    if (!r.killed && strategy.is_random && r.cases < hard_cases) far_enough[r.mutant] = false;
  }
  for (size_t m = 0; m < bench.mutants.size(); ++m) {
    if (bench.mutants[m].make) continue;  // drawn flaws have no mark
    if (bench.mutants[m].is_hard && killer[m])
      fmt::print("marked hard, but {} kills {} at case {} of seed {}\n", bench.strategies[killer[m]->strategy].name,
                 bench.mutants[m].name, killer[m]->cases, killer[m]->seed);
    if (!bench.mutants[m].is_hard && !killer[m] && complete && far_enough[m])
      fmt::print("not marked hard, but survives: {}\n", bench.mutants[m].name);
  }
}

bool any_hard(const MutantBench& bench) {
  return std::any_of(bench.mutants.begin(), bench.mutants.end(), [](const Mutant& m) { return m.is_hard; });
}

}  // namespace

void print_report(const MutantBench& bench) {
  const bool hard = any_hard(bench);
  fmt::print("killed: in every run, missed: in some; quartiles over all runs, -: not within the limit\n\n");
  if (hard) print_table(bench, true), fmt::print("\n");
  print_table(bench, false);
  fmt::print("\n");
  print_ranks(bench, hard);
  if (bench.strategies.size() > 1)
    fmt::print("two-sided rank-sum tests on the time to kill, {} flaws, a stratum each\n", hard ? "hard" : "all");
  print_comparisons(bench, hard);
  print_missed(bench);
  if (!bench.marks_are_measured) print_wrong_marks(bench);
}

void write_csv(const MutantBench& bench, const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "w"), &std::fclose);
  if (!out) throw BadInput(file + ": " + std::strerror(errno));
  fmt::print(out.get(), "strategy,mutant,hard,seed,killed,cases,seconds\n");
  for (const MutantRun& r : bench.runs)
    fmt::print(out.get(), "{},\"{}\",{:d},{},{:d},{},{:.6f}\n", bench.strategies[r.strategy].name,
               bench.mutants[r.mutant].name, bench.mutants[r.mutant].is_hard, r.seed, r.killed, r.cases, r.seconds);
  if (std::fflush(out.get()) != 0) throw BadInput(file + ": " + std::strerror(errno));
}

void require_gnuplot() {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0)
    throw BadInput("--plot needs gnuplot; on Debian: apt install gnuplot-nox");
}

void write_plot(const MutantBench& bench, const std::string& file) {
  require_gnuplot();
  if (file.find_first_of("\"\\\n") != std::string::npos)
    throw BadInput("--plot: a file name without quotes and backslashes, please");
  const bool hard = any_hard(bench);
  std::string script = fmt::format(
      "set terminal svg size 800,500 background 'white'\nset output \"{}\"\nset logscale x\nset xlabel 'seconds of one "
      "core'\n"
      "set ylabel '{}mutants killed (%)'\nset yrange [0:100]\nset key outside\nset grid\n",
      file, hard ? "hard " : "");
  std::string curves, data;
  for (size_t s = 0; s < bench.strategies.size(); ++s) {
    std::vector<double> seconds;
    double longest = 0;
    for (const MutantRun& r : bench.runs) {
      if (r.strategy != s || (hard && !bench.mutants[r.mutant].is_hard)) continue;
      seconds.push_back(seconds_of(r));
      longest = std::max(longest, r.seconds);
    }
    if (seconds.empty()) continue;
    std::sort(seconds.begin(), seconds.end());
    curves += fmt::format("{}'-' with steps lw 2 title '{}'", curves.empty() ? "" : ", ", bench.strategies[s].name);
    const auto kills = size_t(std::count_if(seconds.begin(), seconds.end(), [](double t) { return t != censored; }));
    const auto percent = [&](size_t n) { return 100.0 * double(n) / double(seconds.size()); };
    data += fmt::format("{} 0\n", kills ? seconds[0] : 1e-6);
    for (size_t i = 0; i < kills; ++i) data += fmt::format("{} {}\n", seconds[i], percent(i + 1));
    data += fmt::format("{} {}\ne\n", std::max(longest, 1e-6), percent(kills));
  }
  script += "plot " + curves + "\n" + data;
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (!gnuplot) throw BadInput(std::string("gnuplot: ") + std::strerror(errno));
  std::fwrite(script.data(), 1, script.size(), gnuplot);
  if (pclose(gnuplot) != 0) throw BadInput(file + ": gnuplot could not write it");
}

}  // namespace mmafuzz
