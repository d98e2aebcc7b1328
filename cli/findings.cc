// mmafuzz findings: lists, filters and shows the buckets of a store, and keeps what a person decided about them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "triage/store/store.h"

namespace mmafuzz::cli {
namespace {

template <class Enum>
Enum from_name(const std::string& name, std::initializer_list<Enum> all) {
  std::string known;
  for (const Enum e : all) {
    if (name == name_of(e)) return e;
    known += (known.empty() ? "" : ", ") + std::string(name_of(e));
  }
  throw BadInput("'" + name + "' is none of " + known);
}

Severity severity_from(const std::string& name) {
  return from_name(name, {Severity::contract, Severity::accuracy, Severity::semantic});
}
BucketStatus status_from(const std::string& name) {
  return from_name(name, {BucketStatus::new_bucket, BucketStatus::known, BucketStatus::expected, BucketStatus::fixed});
}

std::string date_text(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc);
  return text;
}

std::string units_text(const Bucket& b) {
  std::string text;
  for (const std::string& unit : b.key.units) text += (text.empty() ? "" : " ") + unit;
  return text;
}

/// What was called fixed and came after that is not fixed.
std::string status_text(const Bucket& b) {
  return std::string(name_of(b.status)) + (came_again(b) ? ", seen again" : "");
}

nlohmann::json to_json(const Bucket& b) {
  return {{"id", b.id()},
          {"severity", name_of(b.severity)},
          {"status", name_of(b.status)},
          {"status_set", b.status_set},
          {"note", b.note},
          {"count", b.count},
          {"addends", b.addends},
          {"property", b.key.property},
          {"op", b.key.op},
          {"units", b.key.units},
          {"value_class", b.key.value_class},
          {"cause", b.cause},
          {"detail", b.detail},
          {"first_seen", b.first_seen},
          {"last_seen", b.last_seen},
          {"seed", b.seed},
          {"command", b.command},
          {"witness", b.witness},
          {"line", b.line()}};
}

void print_table(const std::vector<Bucket>& buckets) {
  constexpr size_t columns = 10;
  using Row = std::array<std::string, columns>;
  std::vector<Row> rows = {
      {"id", "severity", "status", "count", "addends", "property", "op", "units", "class", "cause"}};
  for (const Bucket& b : buckets)
    rows.push_back({b.id(), name_of(b.severity), status_text(b), std::to_string(b.count), std::to_string(b.addends),
                    b.key.property, b.key.op, units_text(b), b.key.value_class, b.cause});
  size_t width[columns] = {};
  for (const Row& row : rows)
    for (size_t i = 0; i < columns; ++i) width[i] = std::max(width[i], row[i].size());
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i + 1 < columns; ++i) {
      const bool number = i == 3 || i == 4;
      line += number ? fmt::format("{:>{}}  ", row[i], width[i]) : fmt::format("{:<{}}  ", row[i], width[i]);
    }
    fmt::print("{}{}\n", line, row[columns - 1]);
  }
}

void print_bucket(const Bucket& b) {
  fmt::print("{}\n\n", b.line());
  const auto item = [](const char* name, const std::string& text) {
    if (!text.empty()) fmt::print("{:<11} {}\n", name, text);
  };
  item("id", b.id());
  item("severity", name_of(b.severity));
  item("status", status_text(b) + (b.status_set ? ", set " + date_text(b.status_set) : ""));
  item("note", b.note);
  item("cause", b.cause);
  item("detail", b.detail);
  item("count", std::to_string(b.count));
  item("first seen", date_text(b.first_seen) + fmt::format(", seed {}", b.seed));
  item("last seen", date_text(b.last_seen));
  item("command", b.command);
  item("addends", std::to_string(b.addends));
  fmt::print("\n{}", b.witness);
}

void list(const Store& store, const BucketFilter& filter, bool json) {
  const std::vector<Bucket> buckets = store.buckets(filter);
  if (json) {
    nlohmann::json array = nlohmann::json::array();
    for (const Bucket& b : buckets) array.push_back(to_json(b));
    fmt::print("{}\n", array.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  if (!buckets.empty()) print_table(buckets);
  fmt::print("{}{} buckets\n", buckets.empty() ? "" : "\n", buckets.size());
}

/// Of "ID=known", all or none.
void set_statuses(const std::string& file, const std::vector<std::string>& settings, const std::string& note) {
  const Store there(file, Access::read);  // a wrong name creates no store
  Store store(file, Access::write);
  const int64_t now = std::time(nullptr);
  std::string done;
  store.atomically([&] {
    for (const std::string& setting : settings) {
      const size_t equals = setting.find('=');
      if (equals == std::string::npos)
        throw BadInput("--set takes ID=known, ID=expected, ID=fixed or ID=new, not '" + setting + "'");
      const Bucket bucket = store.find(setting.substr(0, equals));
      const BucketStatus status = status_from(setting.substr(equals + 1));
      store.set_status(bucket.id(), status, note.empty() ? bucket.note : note, now);
      done += bucket.id() + " " + name_of(status) + "\n";
    }
  });
  fmt::print("{}", done);
}

}  // namespace

void add_findings(Arguments& app, int& status) {
  struct Options {
    std::string store, severity, status, show, note;
    std::vector<std::string> set;
    BucketFilter filter;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("findings", "List, filter and show what a store holds; keep decisions about it");
  sub->add_option("store", options->store, "store file")->required();
  sub->add_option("--severity", options->severity, "only contract, accuracy or semantic");
  sub->add_option("--status", options->status, "only new, known, expected or fixed");
  sub->add_option("--cause", options->filter.cause, "only causes that match this glob");
  sub->add_option("--unit", options->filter.unit, "only buckets with a unit that matches this glob");
  sub->add_option("--op", options->filter.op, "only op labels that match this glob, as in 'dot.f32.*'");
  Argument* show =
      sub->add_option("--show", options->show, "one bucket with its witness, by id or the beginning of it");
  Argument* set = sub->add_option("--set", options->set, "ID=known, ID=expected, ID=fixed or ID=new")->excludes(show);
  sub->add_option("--note", options->note, "with --set: why")->needs(set);
  sub->add_flag("--json", options->json, "print JSON")->excludes(set);
  sub->footer("Example: mmafuzz findings night.store --severity semantic --cause 'fraction_bits*'");
  sub->callback([options, &status] {
    status = exit_ok;
    if (!options->set.empty()) return set_statuses(options->store, options->set, options->note);
    if (!options->severity.empty()) options->filter.severity = severity_from(options->severity);
    if (!options->status.empty()) options->filter.status = status_from(options->status);
    const Store store(options->store, Access::read);
    if (options->show.empty()) return list(store, options->filter, options->json);
    const Bucket bucket = store.find(options->show);
    if (options->json) {
      fmt::print("{}\n", to_json(bucket).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
      print_bucket(bucket);
    }
  });
}

}  // namespace mmafuzz::cli
