// mmafuzz fuzz: a seeded search over structured operands. Units are compared with what they claim (contract), with the
// properties that they claim, and with each other (semantic). Results depend on seed and number of cases alone, not on
// threads: chunks are computed in parallel and merged in order.
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cli/run_files.h"
#include "oracles/properties/properties.h"
#include "oracles/units/model_rows.h"
#include "oracles/units/parameters.h"
#include "search/structured_generator.h"

namespace mmafuzz::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t chunk_cases = 1024;
constexpr size_t property_share = 8;  ///< one case in so many is also put through the properties of one unit
constexpr size_t referee_share = 64;  ///< one case in so many also goes to the slow twins and the MPFR referee

/// Ops that a search without --op covers: what the recorded GPUs do, and the CPU's silicon.
const std::vector<std::string> default_ops = {
    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16",    "dot a=bf16 b=bf16 c=fp32 d=fp32 k=16", "dot a=tf32 b=tf32 c=fp32 d=fp32 k=8",
    "dot a=fp16 b=fp16 c=fp16 d=fp16 k=16",    "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32", "dot a=e5m2 b=e5m2 c=fp32 d=fp32 k=32",
    "dot a=fp32 b=fp32 c=fp32 d=fp32 k=4 nan=any", "dot a=fp64 b=fp64 c=fp64 d=fp64 k=16 nan=any",  "scalar fma format=fp32 round=nearest_even nan=any",
    "scalar fma format=fp64 round=toward_zero nan=any", "scalar add format=fp64 round=up nan=any", "scalar mul format=fp32 round=down nan=any",
    "convert from=fp32 to=fp16 round=nearest_even nan=any"};

/// Units with their own arithmetic for an op: exact, the IEEE orders, the CPU, and of the models one for each different
/// row, the widest k of each instruction.
std::vector<std::string> default_units(const Op& op) {
  std::vector<std::string> names;
  const auto binds = [&](const std::string& name) { return static_cast<bool>(registry().bind(name, op)); };
  for (const char* name : {"exact", "ieee", "ieee:fma", "ieee:serial", "ieee:pairwise"})
    if (binds(name)) names.push_back(name);
  for (const UnitInfo& info : registry().list())
    if (info.name.starts_with("cpu:") && info.unavailable.empty() && binds(info.name)) names.push_back(info.name);
  std::map<std::string, const ModelRow*> widest;  // by architecture and instruction
  for (const ModelRow& row : model_rows()) {
    if (!binds("model:" + row.name())) continue;
    const ModelRow*& best = widest[row.arch + "/" + row.instruction];
    if (!best || row.op.k > best->op.k) best = &row;
  }
  std::vector<std::string> seen;
  for (const ModelRow& row : model_rows()) {
    if (widest[row.arch + "/" + row.instruction] != &row) continue;
    std::string arithmetic;
    for (const char* p : {"kernel", "block", "fraction_bits", "zero_exponent", "nan", "output_fraction_bits"})
      arithmetic += parameter_text(*find_parameter(p), row.model) + " ";
    if (std::find(seen.begin(), seen.end(), arithmetic) != seen.end()) continue;
    seen.push_back(arithmetic);
    names.push_back("model:" + row.name());
  }
  return names;
}

/// One op with its bound units, and the references that confirm them.
struct Field {
  Op op;
  std::vector<std::unique_ptr<Unit>> units;
  std::vector<std::vector<BoundProperty>> properties;  ///< of each unit
  struct Contract {
    size_t unit;
    std::unique_ptr<Unit> reference;
    bool sampled;  ///< slow references see one case in referee_share
  };
  std::vector<Contract> contracts;
  std::unique_ptr<Unit> referee;  ///< exact:mpfr, confirms what the fast path says before it is reported
};

Field make_field(const Op& op, const std::vector<std::string>& names) {
  Field field;
  field.op = op;
  for (const std::string& name : names) field.units.push_back(bind_or_fail(name, op));
  for (size_t i = 0; i < field.units.size(); ++i) {
    const Unit& unit = *field.units[i];
    field.properties.push_back(bind_properties(unit, op, registry()));
    std::vector<Claim> claims = unit.claims();
    if (unit.name().starts_with("model:")) claims.push_back({"equals_model", "twin:" + unit.name().substr(6)});
    for (const Claim& claim : claims) {
      if (claim.property != "equals_model") continue;
      Result<std::unique_ptr<Unit>> reference = registry().bind(claim.detail, op);
      if (!reference) continue;
      const bool slow = claim.detail.starts_with("twin:") || claim.detail == "exact:mpfr";
      field.contracts.push_back({i, std::move(*reference), slow});
    }
  }
  if (Result<std::unique_ptr<Unit>> referee = registry().bind("exact:mpfr", op)) field.referee = std::move(*referee);
  return field;
}

/// What one chunk found: counts per bucket, and the first divergence of each.
struct Findings {
  struct Entry {
    Severity severity;
    uint64_t count = 0;
    Divergence first;
  };
  std::map<BucketKey, Entry> buckets;
  uint64_t cases = 0, compared = 0;
  std::map<std::pair<std::string, std::string>, uint64_t> differing;  ///< cases by unit pair, of one op

  void add(Divergence d, uint64_t count) {
    if (d.key.property == "equal") differing[{d.key.units[0], d.key.units[1]}] += count;
    Entry& entry = buckets[d.key];
    if (entry.count == 0) {
      entry.severity = d.severity;
      entry.first = std::move(d);
    }
    entry.count += count;
  }
};

Batch every_nth(const Batch& batch, size_t n) {
  Batch part(batch.op());
  for (size_t i = 0; i < batch.size(); i += n) part.append(batch, i);
  return part;
}

Findings search_chunk(const Field& field, uint64_t seed, uint64_t first, size_t count) {
  Findings findings;
  findings.cases = count;
  const auto report = [&](Divergence d, uint64_t cases) { findings.add(std::move(d), cases); };
  Batch batch;
  StructuredGenerator(field.op, seed).fill(first, count, batch);
  const Batch sample = every_nth(batch, referee_share);
  std::vector<Outcomes> outcomes(field.units.size()), sampled(field.units.size());
  for (size_t i = 0; i < field.units.size(); ++i) {
    field.units[i]->run(batch, outcomes[i]);
    field.units[i]->run(sample, sampled[i]);
  }
  for (const Field::Contract& contract : field.contracts) {
    const Batch& cases = contract.sampled ? sample : batch;
    Outcomes expected;
    contract.reference->run(cases, expected);
    findings.compared += compare_units("equals_model", Severity::contract, cases, field.units[contract.unit]->name(),
                                       (contract.sampled ? sampled : outcomes)[contract.unit], contract.reference->name(), expected, report);
  }
  const Batch related = every_nth(batch, property_share);
  for (size_t i = 0; i < field.units.size(); ++i) {
    Outcomes base;
    field.units[i]->run(related, base);
    for (const BoundProperty& property : field.properties[i]) findings.compared += property.check(related, base, report);
  }
  for (size_t i = 0; i < field.units.size(); ++i)
    for (size_t j = i + 1; j < field.units.size(); ++j)
      findings.compared += compare_units("equal", Severity::semantic, batch, field.units[i]->name(), outcomes[i],
                                         field.units[j]->name(), outcomes[j], report);
  return findings;
}

/// Merges chunks in order and prints each new bucket as it comes.
class Merger {
 public:
  Merger(bool json, bool quiet) : json_(json), quiet_(quiet), terminal_(isatty(2) != 0) {}

  void merge(const Field& field, Findings chunk) {
    total_.cases += chunk.cases;
    total_.compared += chunk.compared;
    for (const auto& [pair, count] : chunk.differing) differing_[pair] += count;
    for (auto& [key, entry] : chunk.buckets) {
      auto [at, fresh] = total_.buckets.try_emplace(key, entry);
      if (!fresh) {
        at->second.count += entry.count;
        continue;
      }
      confirm(field, entry.first);
      if (entry.severity == Severity::contract) contract_ = true;
      if (!json_ && (!quiet_ || entry.severity == Severity::contract)) print(entry.first);
    }
  }

  /// A line that is overwritten on a terminal, a line now and then elsewhere.
  void progress(const std::string& op) {
    const auto now = Clock::now();
    const double since_last = std::chrono::duration<double>(now - last_progress_).count();
    if (json_ || since_last < (terminal_ ? 0.25 : 30)) return;
    last_progress_ = now;
    const std::string line = fmt::format("{:.0f} s  {} cases  {} kinds of divergence  {}", std::chrono::duration<double>(now - start_).count(),
                                         total_.cases, total_.buckets.size(), op);
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r" : "mmafuzz: ", line, terminal_ ? "\x1b[K" : "\n");
  }
  void end_progress() const {
    if (terminal_ && !json_) fmt::print(stderr, "\r\x1b[K");
  }

  const Findings& total() const { return total_; }
  /// Differing cases by unit pair since the last call: those of one op.
  std::map<std::pair<std::string, std::string>, uint64_t> take_differing() { return std::exchange(differing_, {}); }
  bool contract() const { return contract_; }
  bool any(Severity severity) const {
    for (const auto& [key, entry] : total_.buckets)
      if (entry.severity == severity) return true;
    return false;
  }

 private:
  /// What the fast path of `exact` said of a printed case must be what the referee says.
  static void confirm(const Field& field, const Divergence& d) {
    if (!field.referee) return;
    for (size_t i = 0; i < d.key.units.size() && d.key.property == "equal"; ++i) {
      if (d.key.units[i] != "exact") continue;
      Outcomes referee;
      field.referee->run(d.cases, referee);
      if (referee.results.get(0) != d.results[i])
        throw std::runtime_error("the exact fast path and MPFR disagree on: " + case_line(d.cases, 0));
    }
  }

  void print(const Divergence& d) {
    end_progress();
    fmt::print("{}: {}\n", name_of(d.severity), d.key.to_string());
    for (size_t i = 0; i < d.cases.size(); ++i) fmt::print("    {}\n", case_line(d.cases, i));
    std::string results;
    for (const uint64_t r : d.results) results += (results.empty() ? "" : " against ") + to_hex(d.cases.op().d, r);
    fmt::print("    {}\n", results);
    std::fflush(stdout);
  }

  Clock::time_point start_ = Clock::now(), last_progress_ = start_;
  Findings total_;
  std::map<std::pair<std::string, std::string>, uint64_t> differing_;
  bool json_, quiet_, terminal_, contract_ = false;
};

/// Runs one op's chunks on `threads` threads, merging in order, until `cases` are done or the deadline has passed.
void search(const Field& field, uint64_t seed, uint64_t cases, Clock::time_point deadline, unsigned threads, Merger& merger) {
  std::mutex mutex;
  std::condition_variable ready;
  std::map<uint64_t, Findings> waiting;
  uint64_t next_chunk = 0, next_merge = 0;
  bool stop = false;
  std::exception_ptr failure;
  unsigned running = threads;
  const uint64_t chunks = cases / chunk_cases + (cases % chunk_cases != 0);
  const auto work = [&] {
    for (;;) {
      uint64_t chunk;
      {
        std::unique_lock lock(mutex);
        // Bounded look-ahead keeps memory flat when merging is the slower side.
        ready.wait(lock, [&] { return stop || failure || next_chunk < next_merge + 8 * threads; });
        if (stop || failure || next_chunk >= chunks || Clock::now() >= deadline) break;
        chunk = next_chunk++;
      }
      try {
        const uint64_t first = chunk * chunk_cases;
        Findings found = search_chunk(field, seed, first, static_cast<size_t>(std::min<uint64_t>(chunk_cases, cases - first)));
        std::lock_guard lock(mutex);
        waiting.emplace(chunk, std::move(found));
      } catch (...) {
        std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      ready.notify_all();
    }
    std::lock_guard lock(mutex);
    --running;
    ready.notify_all();
  };
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < threads; ++i) pool.emplace_back(work);
  {
    std::unique_lock lock(mutex);
    for (;;) {
      ready.wait_for(lock, std::chrono::milliseconds(500), [&] { return failure || waiting.count(next_merge) || running == 0; });
      if (failure) break;
      for (auto found = waiting.find(next_merge); found != waiting.end(); found = waiting.find(next_merge)) {
        Findings chunk = std::move(found->second);
        waiting.erase(found);
        ++next_merge;
        lock.unlock();
        try {
          merger.merge(field, std::move(chunk));
        } catch (...) {
          lock.lock();
          failure = std::current_exception();
          break;
        }
        lock.lock();
        ready.notify_all();
      }
      merger.progress(to_text(field.op));
      if (failure || (running == 0 && waiting.empty())) break;
    }
    stop = true;
  }
  ready.notify_all();
  for (std::thread& t : pool) t.join();
  merger.end_progress();
  if (failure) std::rethrow_exception(failure);
}

/// Units against units: the share of cases on which they differ.
void print_matrix(const Field& field, uint64_t cases, const std::map<std::pair<std::string, std::string>, uint64_t>& differing) {
  fmt::print("\n{}: {} cases; cases in 10,000 on which two units differ\n", to_text(field.op), cases);
  const size_t n = field.units.size();
  size_t width = 0;
  for (size_t i = 0; i < n; ++i) width = std::max(width, field.units[i]->name().size());
  for (size_t i = 0; i < n; ++i) {
    fmt::print("{:>3} {:{}}", i, field.units[i]->name(), i ? width : 0);
    for (size_t j = 0; j < i; ++j) {
      const auto found = differing.find({field.units[j]->name(), field.units[i]->name()});
      const double share = found == differing.end() ? 0 : double(found->second) / double(cases) * 1e4;
      if (share == 0) {
        fmt::print("     -");
      } else {
        fmt::print("{:6.0f}", share < 1 ? 1.0 : share);
      }
    }
    fmt::print("\n");
  }
}

nlohmann::json to_json(const Findings& total) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [key, entry] : total.buckets) {
    nlohmann::json cases = nlohmann::json::array(), results = nlohmann::json::array();
    for (size_t i = 0; i < entry.first.cases.size(); ++i) cases.push_back(case_line(entry.first.cases, i));
    for (const uint64_t r : entry.first.results) results.push_back(to_hex(entry.first.cases.op().d, r));
    list.push_back({{"property", key.property}, {"op", to_text(entry.first.cases.op())}, {"units", key.units}, {"class", key.value_class},
                    {"severity", name_of(entry.severity)}, {"count", entry.count}, {"cases", cases}, {"results", results}});
  }
  return {{"cases", total.cases}, {"compared", total.compared}, {"buckets", list}};
}

struct Options {
  std::vector<std::string> ops, units;
  uint64_t seed = 1, cases = 0;
  double time = 0;
  unsigned threads = 0;
  std::string fail_on = "contract";
  bool json = false, quiet = false;
};

int run(const Options& options) {
  if (options.cases && options.time > 0) throw BadInput("give --cases or --time, not both");
  std::vector<Field> fields;
  for (const std::string& text : options.ops.empty() ? default_ops : options.ops) {
    const Op op = op_from_text(text);
    std::vector<std::string> names = options.units.empty() ? default_units(op) : split_units(options.units);
    if (names.empty()) throw BadInput("no unit evaluates '" + to_text(op) + "'");
    fields.push_back(make_field(op, names));
  }
  const uint64_t cases = options.cases ? options.cases : options.time > 0 ? UINT64_MAX : 100000;
  const double time = options.time > 0 ? options.time : 1e9;
  const unsigned threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  Merger merger(options.json, options.quiet);
  const auto start = Clock::now();
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto share = std::chrono::duration<double>(time * double(i + 1) / double(fields.size()));
    const uint64_t before = merger.total().cases;
    search(fields[i], options.seed, cases, start + std::chrono::duration_cast<Clock::duration>(share), threads, merger);
    const auto differing = merger.take_differing();
    if (!options.json) print_matrix(fields[i], merger.total().cases - before, differing);
  }
  const Findings& total = merger.total();
  if (options.json) {
    fmt::print("{}\n", to_json(total).dump(2));
  } else {
    std::map<Severity, size_t> kinds;
    for (const auto& [key, entry] : total.buckets) ++kinds[entry.severity];
    fmt::print("\n{} cases, {} comparisons, seed {}; kinds of divergence: {} contract, {} semantic\n", total.cases, total.compared,
               options.seed, kinds[Severity::contract], kinds[Severity::semantic]);
  }
  if (total.compared == 0) throw BadInput("nothing was compared: give at least two units, or one that claims a model or a property");
  const bool failed = merger.contract() || (options.fail_on == "semantic" && merger.any(Severity::semantic));
  return failed ? exit_divergence : exit_ok;
}

}  // namespace

void add_fuzz(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("fuzz", "Search structured operands for divergences");
  sub->add_option("--op", options->ops, "op line, repeatable (default: a list of dots, scalar operations and conversions)")
      ->allow_extra_args(false);
  sub->add_option("--units", options->units, "units to compare, comma-separated (default: all with their own arithmetic)");
  sub->add_option("--seed", options->seed, "seed of the search")->check(unsigned_number());
  sub->add_option("--cases", options->cases, "cases for each op (default 100000)")->check(unsigned_number())->check(CLI::PositiveNumber);
  sub->add_option("--time", options->time, "seconds for all ops together, instead of --cases")->check(CLI::PositiveNumber);
  sub->add_option("--threads", options->threads, "threads (default: all cores)")->check(CLI::Range(1, 1024));
  sub->add_option("--fail-on", options->fail_on, "contract (default) or semantic")->check(CLI::IsMember({"contract", "semantic"}));
  sub->add_flag("--json", options->json, "print one JSON object at the end");
  sub->add_flag("-q,--quiet", options->quiet, "print semantic divergences only as counts");
  sub->footer("Same seed and --cases N: the same findings on any number of threads. --time cannot promise that.\n"
              "Example: mmafuzz fuzz --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16' --units exact,model:hopper/mma.m16n8k16.f32.f16.f16.f32 --seed 7 --cases 1000000");
  sub->callback([options, &status] { status = run(*options); });
}

}  // namespace mmafuzz::cli
