// mmafuzz bench exchange: the cost of exchanging inputs between the shards of a campaign, by the number of shards, with
// real files; and of the rival, a folder with a file for each input, as engines share corpora. A field is a target with
// an op, whose corpus is exchanged.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "bench/bench.h"
#include "bench/measured_rows.h"
#include "campaign/exchange.h"
#include "campaign/shard.h"
#include "core/program.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

struct ExchangeBench {
  unsigned fields = 40, rounds = 10, gained = 20, most_shards = 1024;
  size_t input_bytes = 72;
  std::string folder;
  bool rival = true;
  MeasuredRows rows;
};

/// The fields of shard `index` (from 0) of `count`: those that its piece of a line of equal fields overlaps, as
/// part_of() cuts it.
std::vector<ExchangedField> fields_of(unsigned index, unsigned count, const ExchangeBench& bench) {
  std::vector<ExchangedField> fields;
  const double piece = double(bench.fields) / count, begin = piece * index, end = begin + piece;
  for (unsigned field = 0; field < bench.fields; ++field)
    if (begin < field + 1 && end > field)
      fields.push_back({fmt::format("target/op{}", field), bench.input_bytes, false});
  return fields;
}

std::string random_input(size_t bytes, std::mt19937_64& random) {
  std::string input(bytes, '\0');
  for (char& c : input) c = static_cast<char>(random());
  return input;
}

struct Cost {
  double seconds = 0;                          ///< mean of a shard in a round
  double worst = 0;                            ///< maximum of a shard in a round, in seconds
  double files = 0, looked_at = 0, bytes = 0;  ///< means: files read, files looked at, bytes received
  uint64_t received = 0, missed = 0;           ///< inputs of all shards and rounds
};

Cost cost_of_records(unsigned count, const ExchangeBench& bench, const std::string& folder) {
  std::mt19937_64 random(1);
  std::vector<Exchange> shards;
  std::vector<std::vector<ExchangedField>> fields;
  shards.reserve(count);
  const auto folder_of = [&](unsigned i) { return folder + "/own/" + std::to_string(i); };
  for (unsigned i = 0; i < count; ++i) {
    fields.push_back(fields_of(i, count, bench));
    for (const ExchangedField& field : fields[i]) fs::create_directories(folder_of(i) + "/corpus/" + field.field);
    shards.emplace_back(folder + "/exchange", folder_of(i), Shard{i + 1, count}.name(), fields[i], true);
  }
  Cost cost;
  for (unsigned round = 0; round < bench.rounds + 1; ++round) {  // the last one only receives
    for (unsigned i = 0; round < bench.rounds && i < count; ++i)
      for (unsigned n = 0; n < bench.gained; ++n)
        std::ofstream(folder_of(i) + "/corpus/" + fields[i][n % fields[i].size()].field + ".inputs",
                      std::ios::app | std::ios::binary)
            << random_input(bench.input_bytes, random);
    for (unsigned i = 0; i < count; ++i) {
      const double start = wall_seconds();
      shards[i].run();
      const double took = wall_seconds() - start;
      cost.seconds += took;
      cost.worst = std::max(cost.worst, took);
    }
  }
  const double runs = double(count) * (bench.rounds + 1);
  for (unsigned i = 0; i < count; ++i) {
    cost.files += double(shards[i].counts().files_read) / runs;
    cost.bytes += double(shards[i].counts().bytes_received) / runs;
    cost.received += shards[i].counts().received;
  }
  std::map<std::string, unsigned> in_field;  // number of shards
  for (const auto& shard_fields : fields)
    for (const ExchangedField& field : shard_fields) ++in_field[field.field];
  for (unsigned i = 0; i < count; ++i) {
    for (const ExchangedField& field : fields[i]) cost.looked_at += double(in_field[field.field]) / double(count);
    for (unsigned n = 0; n < bench.gained; ++n)
      cost.missed += uint64_t{bench.rounds} * (in_field[fields[i][n % fields[i].size()].field] - 1);
  }
  cost.missed -= cost.received;
  cost.seconds /= runs;
  return cost;
}

/// The rival's mean seconds of a shard in a round: a folder for each field and a file for each input. Every shard lists
/// its folders each round and reads new files.
double cost_of_files(unsigned count, const ExchangeBench& bench, const std::string& folder) {
  std::mt19937_64 random(1);
  std::vector<std::unordered_set<std::string>> known(count);
  double seconds = 0;
  for (unsigned field = 0; field < bench.fields; ++field)
    fs::create_directories(fmt::format("{}/target/op{}", folder, field));
  for (unsigned round = 0; round < bench.rounds; ++round) {
    for (unsigned i = 0; i < count; ++i) {
      const std::vector<ExchangedField> fields = fields_of(i, count, bench);
      std::vector<std::pair<std::string, std::string>> inputs;
      for (unsigned n = 0; n < bench.gained; ++n)
        inputs.emplace_back(fmt::format("{}/{}/{}-{}-{}", folder, fields[n % fields.size()].field, i, round, n),
                            random_input(bench.input_bytes, random));
      const double start = wall_seconds();
      for (const auto& [name, input] : inputs) {
        std::ofstream(name, std::ios::binary) << input;
        known[i].insert(name);
      }
      for (const ExchangedField& field : fields)
        for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/" + field.field))
          if (known[i].insert(entry.path().string()).second) {
            std::ifstream in(entry.path(), std::ios::binary);
            const std::string input{std::istreambuf_iterator<char>(in), {}};
            if (input.size() != bench.input_bytes) throw std::runtime_error(entry.path().string() + " is not whole");
          }
      seconds += wall_seconds() - start;
    }
  }
  return seconds / (double(count) * bench.rounds);
}

void run(ExchangeBench& bench) {
  const std::string root = bench.folder + "/mmafuzz-bench-exchange-" + std::to_string(getpid());
  bench.rows.say(fmt::format("{} fields, {} new inputs of {} bytes for each shard and round, {} rounds, in {}",
                             bench.fields, bench.gained, bench.input_bytes, bench.rounds, bench.folder));
  bench.rows.say(fmt::format("{:>6} {:>12} {:>12} {:>9} {:>9} {:>10} {:>14} {:>13}{}", "shards", "ms a round",
                             "longest ms", "looked at", "read", "KiB read", "interval at 2 %", "files/s, all",
                             bench.rival ? "   ms with a file each" : ""));
  for (unsigned count = 1; count <= bench.most_shards; count *= 2) {
    fs::create_directories(root);
    const Cost cost = cost_of_records(count, bench, root + "/records");
    if (cost.missed) throw std::logic_error(fmt::format("{} inputs did not arrive", cost.missed));
    const double every = std::max(exchange_interval, cost.seconds / exchange_share);
    const double all_files = count * cost.looked_at / every;
    nlohmann::json row = {{"shards", count},
                          {"seconds", cost.seconds},
                          {"longest_seconds", cost.worst},
                          {"looked_at", cost.looked_at},
                          {"files", cost.files},
                          {"bytes", cost.bytes},
                          {"interval", every},
                          {"files_per_second", all_files}};
    std::string line = fmt::format("{:>6} {:>12.3f} {:>12.3f} {:>9.1f} {:>9.1f} {:>10.1f} {:>13.1f} s {:>13.0f}", count,
                                   cost.seconds * 1e3, cost.worst * 1e3, cost.looked_at, cost.files, cost.bytes / 1024,
                                   every, all_files);
    if (bench.rival) {
      const double seconds = cost_of_files(count, bench, root + "/files");
      row["rival_seconds"] = seconds;
      line += fmt::format(" {:>22.3f}", seconds * 1e3);
    }
    bench.rows.add(row, line);
    fs::remove_all(root);
  }
  bench.rows.end();
}

}  // namespace

void add_bench_exchange(Arguments& bench, int& status) {
  auto options = std::make_shared<ExchangeBench>();
  options->folder = fs::temp_directory_path().string();
  Arguments* sub =
      bench.add_subcommand("exchange", "Cost of the exchange between shards of a campaign, by their number");
  sub->add_option("--fields", options->fields, "targets and ops that the shards divide")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  sub->add_option("--rounds", options->rounds, "rounds of exchange")->check(in_range(1, 1000))->capture_default_str();
  sub->add_option("--gained", options->gained, "new inputs of a shard between two rounds")
      ->check(in_range(1, 10000))
      ->capture_default_str();
  sub->add_option("--shards", options->most_shards, "greatest number of shards")
      ->check(in_range(1, 9999))
      ->capture_default_str();
  sub->add_option("--folder", options->folder, "on the file system that shards would share")
      ->check(existing_path())
      ->capture_default_str();
  sub->add_flag("!--no-rival", options->rival, "leave out the folder with a file for each input");
  options->rows.add_json_flag(*sub);
  sub->footer("Example: mmafuzz bench exchange --shards 64 --folder /shared/scratch");
  sub->callback([options, &status] {
    run(*options);
    status = exit_ok;
  });
}

}  // namespace mmafuzz
