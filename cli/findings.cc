// mmafuzz findings: lists the facts of a store and the buckets behind them, and keeps what a person decided about them.
// A bucket is a kind of divergence in a store (docs/concepts.md).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "campaign/summary.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "core/json_text.h"
#include "core/program.h"
#include "core/text.h"
#include "triage/bucket_json.h"
#include "triage/facts/conclusions_text.h"
#include "triage/facts/fact_json.h"
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

BucketStatus status_from(const std::string& name) {
  return from_name(name, {BucketStatus::new_bucket, BucketStatus::known, BucketStatus::expected, BucketStatus::fixed});
}

/// The status, with a remark where a bucket that was called fixed was seen after that.
std::string status_text(const Bucket& b) {
  return std::string(name_of(b.status)) + (came_again(b) ? ", seen again" : "");
}

void print_table(const std::vector<Bucket>& buckets) {
  constexpr size_t columns = 10;
  using Row = std::array<std::string, columns>;
  std::vector<Row> rows = {
      {"id", "severity", "status", "count", "addends", "property", "op", "units", "class", "cause"}};
  for (const Bucket& b : buckets)
    rows.push_back({b.id(), name_of(b.severity), status_text(b), std::to_string(b.count), std::to_string(b.addends),
                    b.key.property, b.key.op, joined(b.key.units, " "), b.key.value_class, b.cause});
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
  item("status", status_text(b) + (b.status_set ? ", set " + utc_text(b.status_set, second_format) : ""));
  item("note", b.note);
  item("cause", b.cause);
  item("detail", b.detail);
  item("count", std::to_string(b.count));
  item("first seen", utc_text(b.first_seen, second_format) + fmt::format(", seed {}", b.seed));
  item("last seen", utc_text(b.last_seen, second_format));
  item("command", reproduction_command(b, program_name()));
  item("addends", std::to_string(b.addends));
  fmt::print("\n{}", b.witness);
}

void list_buckets(const std::vector<Bucket>& buckets, bool json) {
  if (json) {
    fmt::print("{}", json_text(json_list(buckets, bucket_json)));
    return;
  }
  if (!buckets.empty()) print_table(buckets);
  fmt::print("{}{}\n", buckets.empty() ? "" : "\n", counted(buckets.size(), "bucket"));
}

/// The folder of the campaign whose own store this is, for a command line; "CAMPAIGN" for a merged store.
std::string folder_of(const std::string& store) {
  const std::filesystem::path folder = std::filesystem::path(store).parent_path();
  return std::filesystem::exists(folder / "campaign.json") ? shell_word(folder.empty() ? "." : folder.string())
                                                           : "CAMPAIGN";
}

/// Prints, on standard error, each of the store's campaigns from which nothing can be concluded, and why. Returns the
/// first reason; "" where there is none.
std::string inconclusive(const std::string& file) {
  std::string first;
  for (const CampaignRecord& campaign : Store(file, Access::read).campaigns()) {
    if (campaign.inconclusive.empty()) continue;
    if (first.empty()) first = campaign.inconclusive;
    if (campaign.inconclusive == not_triaged)
      fmt::print(stderr, "mmafuzz: {}: divergences of campaign {} are not triaged: {} triage {}\n", file, campaign.uuid,
                 program_name(), folder_of(file));
    else fmt::print(stderr, "mmafuzz: {}: campaign {}: {}\n", file, campaign.uuid, campaign.inconclusive);
  }
  return first;
}

/// Prints contradictions and new facts as a campaign does at its end, and known facts as sentences, with their names
/// where `names` is true. Where filters left facts out, the verdict is said of the rest.
void list_facts(const Conclusions& all, const std::string& store, bool json, bool names, bool is_filtered) {
  if (json) {
    fmt::print("{}", json_text(conclusions_json(all)));
    return;
  }
  const size_t width = terminal_width();
  if (is_filtered) fmt::print("Of what passes the filters:\n");
  fmt::print("{}", conclusions_text(
                       all, {.width = width, .max_contradictions = SIZE_MAX, .max_new = SIZE_MAX, .store = store}));
  if (all.confirmed.empty()) return;
  fmt::print("\nKnown facts ({})\n", all.confirmed.size());
  for (const Fact& fact : all.confirmed) {
    if (names) fmt::print("  {}\n", fact.name);
    fmt::print("{}", wrapped(sentence(fact), width, names ? 4 : 2));
  }
  if (!names)
    fmt::print("\nTheir names, which --fact shows with operands: {} findings {} --names\n", program_name(),
               shell_word(store));
}

/// Seconds since 1970, from a date, "2026-11-20" (UTC), or from how long ago: "90m", "24h", "7d". Throws BadInput.
int64_t time_of(const std::string& text) {
  std::tm date{};
  const char* end = strptime(text.c_str(), "%Y-%m-%d", &date);
  if (end && !*end) return timegm(&date);
  if (const std::optional<double> ago = parse_duration(text)) return std::time(nullptr) - static_cast<int64_t>(*ago);
  throw BadInput("--since " + text + ": give a date like 2026-11-20, or how long ago, as in 90m, 24h or 7d");
}

/// Removes the facts that were first seen before a time (time_of); "" removes none.
void keep_since(Conclusions& all, const std::string& since) {
  if (since.empty()) return;
  const int64_t time = time_of(since);
  for (std::vector<Fact>* list : {&all.contradictions, &all.fresh, &all.confirmed})
    std::erase_if(*list, [&](const Fact& fact) { return fact.first_seen < time; });
}

void print_fact(const Fact& fact, const std::string& store) {
  fmt::print("{}", fact_text(fact, {.width = terminal_width(), .store = store}));
  if (!fact.reason.empty()) fmt::print("{}", wrapped("written down: " + fact.reason, terminal_width(), 4));
  fmt::print("\nunits\n  {}\nops\n  {}\n", joined(fact.units, "\n  "), joined(fact.ops, "\n  "));
  fmt::print("buckets ({})\n  {}\n", fact.buckets.size(), joined(fact.buckets, "\n  "));
  fmt::print("\n{}", fact.best.witness);
}

/// Writes the facts that match the glob into the folder of known facts. Throws BadInput where there is none to write.
void accept(const Conclusions& all, const std::string& glob, const std::string& reason, Knowledge knowledge,
            const std::string& folder) {
  if (reason.empty()) throw BadInput("--accept needs --reason: why is this known?");
  if (folder.empty()) throw BadInput("there is no folder of known facts here: name one with --knowledge");
  size_t accepted = 0;
  for (const std::vector<Fact>* list : {&all.contradictions, &all.fresh, &all.confirmed})
    for (const Fact& fact : *list) {
      if (!matches_glob(glob, fact.name) || (list == &all.confirmed && knowledge.find(fact.name))) continue;
      knowledge.accept(fact, reason);
      fmt::print("{}\n", fact.name);
      ++accepted;
    }
  if (!accepted) throw BadInput("no fact that is not in the folder of known facts matches '" + glob + "'");
  knowledge.save(folder);
}

std::vector<Bucket> buckets_of_fact(std::vector<Bucket> buckets, const std::string& fact,
                                    const std::set<std::string>& known) {
  if (fact.empty()) return buckets;
  std::set<std::string> ids;
  for (const Fact& each : facts_of(buckets, known))
    if (each.name == fact) ids.insert(each.buckets.begin(), each.buckets.end());
  std::erase_if(buckets, [&](const Bucket& b) { return !ids.count(b.id()); });
  if (buckets.empty()) throw BadInput("no fact '" + fact + "'; mmafuzz findings lists them");
  return buckets;
}

/// Sets statuses from "ID=known", or "known" for each of the ids `filtered`: all of them, or none where one is wrong.
void set_statuses(const std::string& file, const std::vector<std::string>& settings, const std::string& note,
                  const std::vector<std::string>& filtered) {
  const Store there(file, Access::read);  // a wrong name creates no store
  Store store(file, Access::write);
  const int64_t now = std::time(nullptr);
  std::string done;
  store.atomically([&] {
    for (const std::string& setting : settings) {
      const size_t equals = setting.find('=');
      if (equals == std::string::npos && !filtered.empty()) {
        const BucketStatus status = status_from(setting);
        for (const std::string& id : filtered)
          store.set_status(id, status, note.empty() ? store.find(id).note : note, now);
        done += fmt::format("{} {}\n", counted(filtered.size(), "bucket"), name_of(status));
        continue;
      }
      if (equals == std::string::npos)
        throw BadInput("--set takes ID=known, ID=expected, ID=fixed or ID=new, or the word alone with a filter, not '" +
                       setting + "'");
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
    std::string store, severity, status, show, note, fact, since, accept, reason, knowledge;
    std::vector<std::string> set;
    BucketFilter filter;
    bool json = false, buckets = false, names = false;
  };
  auto options = std::make_shared<Options>();
  Arguments* sub = app.add_subcommand("findings", "List the facts of a store, filter and show its buckets, decide");
  sub->add_option("store", options->store, "store file")->required();
  sub->add_flag("--buckets", options->buckets, "list buckets: facts by units, op, class of values");
  sub->add_flag("--names", options->names, "name the known facts, too");
  sub->add_option("--fact", options->fact, "show this fact; with --buckets or --set, only its buckets");
  sub->add_option("--since", options->since, "only facts first seen since a date, or 90m, 24h, 7d ago");
  sub->add_option("--severity", options->severity, "only contract, accuracy or semantic");
  sub->add_option("--status", options->status, "only new, known, expected or fixed");
  sub->add_option("--cause", options->filter.cause, "only causes that match this glob");
  sub->add_option("--unit", options->filter.unit, "only buckets with a unit that matches this glob");
  sub->add_option("--op", options->filter.op, "only op labels that match this glob, as in 'dot.f32.*'");
  Argument* show =
      sub->add_option("--show", options->show, "one bucket with its witness, by id or the beginning of it");
  Argument* set =
      sub->add_option("--set", options->set,
                      "ID=known, ID=expected, ID=fixed or ID=new; the word alone: of all that pass the filters")
          ->excludes(show);
  sub->add_option("--note", options->note, "with --set: why")->needs(set);
  Argument* accept_option =
      sub->add_option("--accept", options->accept, "keep the facts that match this glob as known, with a witness each");
  sub->add_option("--reason", options->reason, "with --accept: why")->needs(accept_option);
  add_knowledge_option(*sub, options->knowledge);
  sub->add_flag("--json", options->json, "print JSON")->excludes(set);
  sub->footer(
      "Examples: mmafuzz findings night.store --fact 'fraction_bits=24~25'\n"
      "          mmafuzz findings night.store --buckets --severity semantic --cause 'fraction_bits*'\n"
      "          mmafuzz findings night.store --accept 'nan=*' --reason 'each vendor has its own NaN'");
  sub->callback([options, sub, &status] {
    status = exit_ok;
    if (!options->severity.empty())
      options->filter.severity =
          from_name(options->severity, {Severity::contract, Severity::accuracy, Severity::semantic});
    if (!options->status.empty()) options->filter.status = status_from(options->status);
    const bool filters = options->filter.severity || options->filter.status || options->filter.cause != "*" ||
                         options->filter.unit != "*" || options->filter.op != "*" || !options->fact.empty();
    if (sub->count("--show") && options->show.empty())
      throw BadInput("--show needs the id of a bucket, or its beginning; --buckets lists them");
    if (!options->show.empty()) {
      const Bucket bucket = Store(options->store, Access::read).find(options->show);
      if (options->json) print_object(bucket_json(bucket));
      else print_bucket(bucket);
      return;
    }
    if (options->names &&
        (options->buckets || options->json || filters || !options->set.empty() || !options->accept.empty()))
      throw BadInput("--names is for the list of facts");
    if (!options->since.empty() && (options->buckets || !options->fact.empty() || !options->set.empty()))
      throw BadInput("--since is for the list of facts, and for --accept");
    const std::string why_nothing = inconclusive(options->store);
    const Knowledge knowledge =  // --accept makes the folder
        options->accept.empty() ? known_facts(options->knowledge) : Knowledge(options->knowledge);
    const std::vector<Bucket> of_all = Store(options->store, Access::read).buckets(options->filter);
    const std::vector<Bucket> buckets = buckets_of_fact(of_all, options->fact, knowledge.names());
    if (!options->set.empty()) {
      std::vector<std::string> filtered;
      for (const Bucket& bucket : buckets)
        if (filters) filtered.push_back(bucket.id());
      return set_statuses(options->store, options->set, options->note, filtered);
    }
    if (!why_nothing.empty() && options->accept.empty()) status = exit_divergence;
    if (options->buckets) return list_buckets(buckets, options->json);
    // Facts are found in all buckets that the filters leave, not only in those of --fact: whether a part of a
    // combination of causes is a fact by itself depends on the others.
    Conclusions all = conclude(options->accept.empty() ? of_all : buckets, knowledge, {});
    keep_since(all, options->since);
    all.inconclusive = why_nothing;
    if (!options->accept.empty()) return accept(all, options->accept, options->reason, knowledge, options->knowledge);
    if (options->fact.empty())
      return list_facts(all, options->store, options->json, options->names, filters || !options->since.empty());
    for (const std::vector<Fact>* list : {&all.contradictions, &all.fresh, &all.confirmed})
      for (const Fact& fact : *list)
        if (fact.name == options->fact)
          options->json ? print_object(fact_json(fact)) : print_fact(fact, options->store);
  });
}

}  // namespace mmafuzz::cli
