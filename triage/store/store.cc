#include "triage/store/store.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <tuple>

#include "core/case_text.h"
#include "core/replace_file.h"
#include "core/text.h"
#include "triage/store/store_schema.h"

namespace mmafuzz {
namespace {

// Each statement joins a record with the one that is there, so that the order of writes, and repeated writes, make no
// difference. Whether a campaign is conclusive, its later state says, which has run longer; of one state, the triaged
// one.
constexpr const char join_campaign[] =
    "INSERT INTO campaigns(uuid, started, seconds, cases, inputs, seed, command, machine, version, inconclusive) "
    "VALUES(?,?,?,?,?,?,?,?,?,?) "
    "ON CONFLICT DO UPDATE SET started=min(started, excluded.started), seconds=max(seconds, excluded.seconds), "
    "cases=max(cases, excluded.cases), inputs=max(inputs, excluded.inputs), seed=min(seed, excluded.seed), "
    "command=min(command, excluded.command), machine=min(machine, excluded.machine), version=max(version, "
    "excluded.version), inconclusive=CASE WHEN seconds + cases + inputs < excluded.seconds + excluded.cases + "
    "excluded.inputs THEN excluded.inconclusive WHEN seconds + cases + inputs > excluded.seconds + excluded.cases + "
    "excluded.inputs THEN inconclusive ELSE min(inconclusive, excluded.inconclusive) END";
constexpr const char select_campaigns[] =
    "SELECT uuid, started, seconds, cases, inputs, seed, command, machine, version, inconclusive FROM campaigns ORDER "
    "BY started, uuid";
// Names and texts that many records repeat are stored once, with a number.
constexpr const char number_campaign[] = "INSERT OR IGNORE INTO campaign_numbers(uuid) VALUES(?)";
constexpr const char number_text[] = "INSERT OR IGNORE INTO texts(text) VALUES(?)";
constexpr const char number_subject[] = "INSERT OR IGNORE INTO subjects(field, op) VALUES(?,?)";
constexpr const char number_pair[] =
    "INSERT OR IGNORE INTO pair_numbers(op, first_unit, second_unit, property) VALUES(?,?,?,?)";

constexpr const char join_count[] =
    "INSERT INTO bucket_counts(bucket, campaign, count) SELECT b.number, c.number, ?3 FROM bucket_rows b, "
    "campaign_numbers c WHERE b.id = ?1 AND c.uuid = ?2 ON CONFLICT DO UPDATE SET count=max(count, excluded.count)";
constexpr const char join_sample[] =
    "INSERT INTO campaign_samples(campaign, second, cases, bins, buckets) SELECT number, ?2, ?3, ?4, ?5 FROM "
    "campaign_numbers WHERE uuid = ?1 ON CONFLICT DO UPDATE SET cases=max(cases, excluded.cases), bins=max(bins, "
    "excluded.bins), buckets=max(buckets, excluded.buckets)";
constexpr const char join_reached[] =
    "INSERT INTO reached(campaign, subject, bins) SELECT c.number, s.number, ?4 FROM campaign_numbers c, subjects s "
    "WHERE c.uuid = ?1 AND s.field = ?2 AND s.op = ?3 ON CONFLICT DO UPDATE SET bins=united(bins, excluded.bins)";
constexpr const char join_possible[] = "UPDATE subjects SET possible=united(possible, ?3) WHERE field = ?1 AND op = ?2";
constexpr const char join_pair[] =
    "INSERT INTO pair_counts(campaign, pair, compared, differing) SELECT c.number, p.number, ?5, ?6 FROM "
    "campaign_numbers c, pair_numbers p WHERE c.uuid = ?1 AND p.op = ?2 AND p.first_unit = ?3 AND p.second_unit = ?4 "
    "AND p.property = ?7 "
    "ON CONFLICT DO UPDATE SET compared=max(compared, excluded.compared), differing=max(differing, excluded.differing)";

/// Columns of bucket_rows that hold numbers of texts.
constexpr std::array text_columns = {"property",    "op",    "first_unit", "second_unit",
                                     "value_class", "cause", "detail",     "facts"};

/// Inserts a bucket, or updates one that is there, whose number and columns that determine the id stay.
const std::string put_bucket = [] {
  std::string columns, texts;
  for (size_t i = 0; i < text_columns.size(); ++i) {
    columns += std::string(text_columns[i]) + ", ";
    texts += "(SELECT number FROM texts WHERE text = ?" + std::to_string(2 + i) + "), ";
  }
  return "INSERT INTO bucket_rows(id, " + columns +
         "severity, first_seen, last_seen, seed, witness, addends, status, note, status_set) VALUES(?1, " + texts +
         "?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) ON CONFLICT(id) DO UPDATE SET detail=excluded.detail, "
         "facts=excluded.facts, severity=excluded.severity, first_seen=excluded.first_seen, "
         "last_seen=excluded.last_seen, seed=excluded.seed, witness=excluded.witness, addends=excluded.addends, "
         "status=excluded.status, note=excluded.note, status_set=excluded.status_set";
}();
/// Deletes texts that no bucket uses: a change of a bucket's detail or facts leaves the old text. Without indexes, the
/// check of references would read all buckets for each text that is deleted.
const std::string delete_unused_texts = [] {
  std::string make_indexes, used, drop_indexes;
  for (const std::string column : text_columns) {
    make_indexes += "CREATE INDEX texts_of_" + column + " ON bucket_rows(" + column + ");";
    used += (used.empty() ? "SELECT " : " UNION ALL SELECT ") + column + " FROM bucket_rows";
    drop_indexes += "DROP INDEX texts_of_" + column + ";";
  }
  return make_indexes + "DELETE FROM texts WHERE number NOT IN (" + used + ");" + drop_indexes;
}();
const std::string select_buckets =
    "SELECT property, op, first_unit, second_unit, value_class, cause, detail, severity, first_seen, last_seen, seed, "
    "witness, addends, status, note, status_set, (SELECT coalesce(sum(n.count), 0) FROM bucket_counts n WHERE n.bucket "
    "= number), id, facts FROM buckets ";

/// The value of that name; the last one where no other has it.
template <class Enum>
Enum value_named(const std::string& name, std::initializer_list<Enum> all) {
  return *std::find_if(all.begin(), all.end() - 1, [&](Enum e) { return name == name_of(e); });
}

constexpr const char select_reached[] =
    "SELECT c.uuid, s.field, s.op, r.bins, s.possible FROM reached r JOIN campaign_numbers c ON c.number = r.campaign "
    "JOIN subjects s ON s.number = r.subject WHERE ?1 IN ('', c.uuid)";

/// By name of a bin, its number, from 1.
using BinNumbers = std::map<std::string, size_t>;
BinNumbers bin_numbers(const Database& database) {
  BinNumbers numbers;
  Statement row(database, "SELECT bin, number FROM bins");
  while (row.next()) numbers[row.text(0)] = static_cast<size_t>(row.integer(1));
  return numbers;
}

/// Gives the next numbers to bins that have none.
class BinsToNumber {
 public:
  explicit BinsToNumber(const Database& database)
      : numbers_(bin_numbers(database)), join_(database, "INSERT INTO bins(bin, number) VALUES(?,?)") {
    for (const auto& [bin, number] : numbers_) next_ = std::max(next_, number + 1);
  }
  void add(const std::string& bin) {
    if (numbers_.emplace(bin, next_).second) join_.run(bin, next_++);
  }
  const BinNumbers& numbers() const { return numbers_; }

 private:
  BinNumbers numbers_;
  Statement join_;
  size_t next_ = 1;
};

template <class Visit>
void for_each_bit(const std::string& bytes, Visit visit) {
  for (size_t i = 0; i < bytes.size(); ++i)
    for (unsigned rest = static_cast<uint8_t>(bytes[i]); rest; rest &= rest - 1)
      visit(8 * i + static_cast<size_t>(__builtin_ctz(rest)));
}

/// The property line of a witness, with the line end before it, which other columns hold too.
std::string statement_of(const Bucket& b) { return "\nproperty " + b.key.property + " " + joined(b.key.units, " "); }

/// Case lines in which a run of equal operands becomes "0000*14": most operands of a witness are zeros.
std::string with_counted_runs(const std::string& cases) {
  std::string text;
  for (size_t at = 0; at < cases.size();) {
    const size_t end = std::min(cases.find_first_of(" \n", at), cases.size());
    const std::string word = cases.substr(at, end - at);
    size_t count = 1, after = end;
    while (cases.compare(after, word.size() + 1, " " + word) == 0 &&
           (after + 1 + word.size() == cases.size() || std::strchr(" \n", cases[after + 1 + word.size()]))) {
      after += 1 + word.size();
      ++count;
    }
    const std::string times = "*" + std::to_string(count);
    const bool is_shorter = !word.empty() && times.size() < after - end;
    text += is_shorter ? word + times : cases.substr(at, after - at);
    if (after < cases.size()) text += cases[after++];
    at = after;
  }
  return text;
}

/// The inverse of with_counted_runs().
std::string with_written_runs(const std::string& text) {
  std::string cases;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = text.substr(at, end - at);
    const size_t star = word.find('*');
    cases += word.substr(0, star);
    for (int more = star == std::string::npos ? 0 : std::atoi(word.c_str() + star + 1) - 1; more > 0; --more)
      cases += " " + word.substr(0, star);
    if (end < text.size()) cases += text[end];
    at = end + 1;
  }
  return cases;
}

/// The witness without the lines that other columns hold and with counted runs; unchanged where it has another form.
std::string packed_witness(const Bucket& b) {
  const std::string head = head_of_witness(b), statement = statement_of(b) + "\n";
  const size_t at = b.witness.find(statement);
  const bool packs = b.witness.starts_with(head) && b.witness.compare(head.size(), 9, "# results") == 0;
  if (!packs || at == std::string::npos || at < head.size()) return b.witness;
  const size_t cases = b.witness.find('\n', at + statement.size());
  if (cases == std::string::npos || b.witness.find('*', cases) != std::string::npos) return b.witness;
  return b.witness.substr(head.size(), at - head.size()) +
         b.witness.substr(at + statement.size() - 1, cases - at - statement.size() + 1) +
         with_counted_runs(b.witness.substr(cases));
}

std::string unpacked_witness(const std::string& text, const Bucket& b) {
  if (!text.starts_with("# results")) return text;
  const size_t at = text.find("\nop ");
  if (at == std::string::npos) return text;
  const size_t cases = std::min(text.find('\n', at + 1), text.size());
  return head_of_witness(b) + text.substr(0, at) + statement_of(b) + text.substr(at, cases - at) +
         with_written_runs(text.substr(cases));
}

/// `row`: of select_buckets.
Bucket bucket_of(const Statement& row) {
  Bucket b;
  b.key = {row.text(0), row.text(1), {row.text(2)}, row.text(4)};
  if (const std::string second = row.text(3); !second.empty()) b.key.units.push_back(second);
  b.cause = row.text(5);
  b.detail = row.text(6);
  b.severity = value_named(row.text(7), {Severity::contract, Severity::accuracy, Severity::semantic});
  b.first_seen = row.integer(8);
  b.last_seen = row.integer(9);
  b.seed = row.natural(10);
  b.addends = row.natural(12);
  b.status = value_named(row.text(13),
                         {BucketStatus::known, BucketStatus::expected, BucketStatus::fixed, BucketStatus::new_bucket});
  b.note = row.text(14);
  b.status_set = row.integer(15);
  b.count = row.natural(16);
  b.facts = words_of(row.text(18), '\n');
  b.witness = unpacked_witness(row.text(11), b);
  return b;
}

bool passes(const BucketFilter& filter, const Bucket& b) {
  const auto unit_matches = [&](const std::string& unit) { return matches_glob(filter.unit, unit); };
  return (!filter.severity || *filter.severity == b.severity) && (!filter.status || *filter.status == b.status) &&
         matches_glob(filter.cause, b.cause) && matches_glob(filter.op, b.key.op) &&
         std::any_of(b.key.units.begin(), b.key.units.end(), unit_matches);
}

std::vector<Bucket> select(const Database& database, const std::string& condition, const std::string& argument) {
  Statement rows(database, (select_buckets + condition).c_str());
  if (!argument.empty()) rows.start(argument);
  std::vector<Bucket> found;
  while (rows.next()) {
    found.push_back(bucket_of(rows));
    if (found.back().id() != rows.text(17))
      throw std::runtime_error(database.path() + ": the store is damaged: bucket " + rows.text(17) +
                               " has another's key");
  }
  return found;
}

void put(Database& database, const Bucket& b) {
  const std::string second = b.key.units.size() == 2 ? b.key.units[1] : "";
  const std::string facts = joined(b.facts, "\n");
  Statement number(database, number_text);
  for (const std::string& text :
       {b.key.property, b.key.op, b.key.units[0], second, b.key.value_class, b.cause, b.detail, facts})
    number.run(text);
  Statement(database, put_bucket.c_str())
      .run(b.id(), b.key.property, b.key.op, b.key.units[0], second, b.key.value_class, b.cause, b.detail, facts,
           name_of(b.severity), b.first_seen, b.last_seen, b.seed, packed_witness(b), b.addends, name_of(b.status),
           b.note, b.status_set);
}

void join_in(Database& database, const Bucket& bucket) {
  if (bucket.key.units.empty() || bucket.key.units.size() > 2)
    throw std::runtime_error(database.path() + ": a bucket has one unit or two: " + bucket.line());
  const std::vector<Bucket> stored = select(database, "WHERE id = ?", bucket.id());
  if (!stored.empty() && stored[0].line() != bucket.line())
    throw std::runtime_error(database.path() + ": two buckets share the id " + bucket.id() + ": " + stored[0].line() +
                             " and " + bucket.line());
  put(database, stored.empty() ? bucket : joined(stored[0], bucket));
}

/// Sets of bins, as in store_schema.h.
struct BinSets {
  std::map<std::array<std::string, 3>, std::string> reached;   ///< by uuid, field and op
  std::map<std::array<std::string, 2>, std::string> possible;  ///< by field and op: bins that are not ruled out
};

/// The sets of store `from`, with the numbers that bins have in store `into`.
BinSets bin_sets_for(const Database& into, const Database& from) {
  const BinNumbers numbers = bin_numbers(into);
  std::vector<size_t> number_in_into;  // by number in `from`
  for (const auto& [bin, number] : bin_numbers(from)) {
    number_in_into.resize(std::max(number_in_into.size(), number + 1));
    number_in_into[number] = numbers.at(bin);
  }
  const auto add = [&](const std::string& bits, std::string& sum) {
    for_each_bit(bits, [&](size_t bin) { set_bit(sum, number_in_into.at(bin)); });
  };
  BinSets all;
  Statement row(from, select_reached);
  row.start("");
  while (row.next()) {
    add(row.text(3), all.reached[{row.text(0), row.text(1), row.text(2)}]);
    add(row.text(4), all.possible[{row.text(1), row.text(2)}]);
  }
  return all;
}

void join_in(Database& database, const BinSets& all) {
  Statement campaign(database, number_campaign), subject(database, number_subject), join(database, join_reached),
      possible(database, join_possible);
  for (const auto& [names, bits] : all.reached) {
    campaign.run(names[0]);
    subject.run(names[1], names[2]);
    join.run(names[0], names[1], names[2], Blob{bits});
  }
  for (const auto& [names, bits] : all.possible) possible.run(names[0], names[1], Blob{bits});
}

}  // namespace

Bucket joined(const Bucket& x, const Bucket& y) {
  const auto first_rank = [](const Bucket& b) { return std::tie(b.first_seen, b.seed); };
  const auto witness_rank = [](const Bucket& b) {
    const size_t extents = b.detail.size() - without_extents(b.detail).size();
    return std::make_tuple(b.witness.empty(), b.addends, !is_minimized(b), b.witness.size() - extents, extents == 0,
                           std::tie(b.witness, b.detail));
  };
  const auto status_rank = [](const Bucket& b) { return std::tie(b.status_set, b.status, b.note); };
  const Bucket& earlier = first_rank(y) < first_rank(x) ? y : x;
  const Bucket& smaller = witness_rank(y) < witness_rank(x) ? y : x;
  const Bucket& later = status_rank(x) < status_rank(y) ? y : x;
  Bucket both = x;
  both.severity = std::min(x.severity, y.severity);
  both.first_seen = earlier.first_seen;
  both.seed = earlier.seed;
  both.last_seen = std::max(x.last_seen, y.last_seen);
  both.witness = smaller.witness;
  both.addends = smaller.addends;
  both.detail = smaller.detail;
  both.facts = std::max(x.facts, y.facts);  // a bucket of an older store has none
  both.status = later.status;
  both.note = later.note;
  both.status_set = later.status_set;
  return both;
}

Store::Store(const std::string& path, Access access) : database_(path, access, store_kind()) {}

void Store::add_campaign(const CampaignRecord& c) {
  if (c.uuid.empty()) throw std::runtime_error(path() + ": a campaign needs a uuid");
  Statement(database_, join_campaign)
      .run(c.uuid, c.started, c.seconds, c.cases, c.inputs, c.seed, c.command, c.machine, c.version, c.inconclusive);
}

void Store::set_inconclusive(const std::string& campaign, const std::string& reason) {
  Statement(database_, "UPDATE campaigns SET inconclusive = ? WHERE uuid = ?").run(reason, campaign);
}

void Store::add(const Bucket& bucket, const std::string& campaign) {
  Bucket undecided = bucket;
  undecided.status = BucketStatus::new_bucket;
  undecided.note.clear();
  undecided.status_set = 0;
  atomically([&] {
    join_in(database_, undecided);
    Statement(database_, number_campaign).run(campaign);
    Statement(database_, join_count).run(bucket.id(), campaign, bucket.count);
  });
}

void Store::add(const std::vector<CampaignSample>& samples) {
  atomically([&] {
    Statement number(database_, number_campaign), join(database_, join_sample);
    for (const CampaignSample& s : samples) {
      number.run(s.campaign);
      join.run(s.campaign, s.second, s.cases, s.bins, s.buckets);
    }
  });
}

void Store::add(const std::vector<CoverageRecord>& coverage) {
  atomically([&] {
    BinsToNumber bins(database_);
    for (const CoverageRecord& c : coverage) bins.add(c.bin);
    BinSets all;
    for (const CoverageRecord& c : coverage) {
      const size_t number = bins.numbers().at(c.bin);
      std::string& bits = all.reached[{c.campaign, c.field, c.op}];
      if (c.hits) set_bit(bits, number);
      set_bit(all.possible[{c.field, c.op}], number);
    }
    join_in(database_, all);
  });
}

void Store::add(const std::vector<PairRecord>& pairs) {
  atomically([&] {
    Statement campaign(database_, number_campaign), pair(database_, number_pair), join(database_, join_pair);
    for (const PairRecord& p : pairs) {
      campaign.run(p.campaign);
      pair.run(p.op, p.first_unit, p.second_unit, p.property);
      join.run(p.campaign, p.op, p.first_unit, p.second_unit, p.compared, p.differing, p.property);
    }
  });
}

std::vector<Bucket> Store::buckets_beside(const std::string& campaign) const {
  return select(database_, "WHERE EXISTS (SELECT 1 FROM counts WHERE bucket = id AND campaign <> ?)", campaign);
}

void Store::set_status(const std::string& id, BucketStatus status, const std::string& note, int64_t when) {
  atomically([&] {
    Bucket bucket = find(id);
    bucket.status = status;
    bucket.note = note;
    // Of two decisions within one second the later one counts, here and in merges.
    bucket.status_set = std::max(when, bucket.status_set + 1);
    put(database_, bucket);
  });
}

void Store::merge_from(const Store& other) {
  if (&other == this) return;
  const auto copy = [&](const char* select, const char* join) {
    Statement from(other.database_, select), into(database_, join);
    while (from.next()) into.run_with_row_of(from);
  };
  atomically([&] {
    other.database_.in_one_state([&] {
      copy(select_campaigns, join_campaign);
      for (const Bucket& bucket : other.buckets()) join_in(database_, bucket);
      copy("SELECT uuid FROM campaign_numbers ORDER BY number", number_campaign);
      copy("SELECT op, first_unit, second_unit, property FROM pair_numbers ORDER BY number", number_pair);
      copy("SELECT bucket, campaign, count FROM counts", join_count);
      copy("SELECT campaign, second, cases, bins, buckets FROM samples", join_sample);
      BinsToNumber bins(database_);
      for (const auto& [bin, number] : bin_numbers(other.database_)) bins.add(bin);
      join_in(database_, bin_sets_for(database_, other.database_));
      copy("SELECT campaign, op, first_unit, second_unit, compared, differing, property FROM pairs", join_pair);
    });
  });
}

std::vector<Bucket> Store::buckets(const BucketFilter& filter) const {
  std::vector<Bucket> all = select(database_, "", "");
  std::erase_if(all, [&](const Bucket& b) { return !passes(filter, b); });
  std::sort(all.begin(), all.end(), listed_before);
  return all;
}

Bucket Store::find(const std::string& id) const {
  const std::vector<Bucket> found =
      id.empty() ? std::vector<Bucket>{} : select(database_, "WHERE substr(id, 1, length(?1)) = ?1", id);
  if (found.empty()) throw std::runtime_error(path() + ": no bucket '" + id + "'; mmafuzz findings lists them");
  if (found.size() > 1)
    throw std::runtime_error(path() + ": '" + id + "' begins the ids of " + std::to_string(found.size()) +
                             " buckets: give more digits");
  return found[0];
}

std::vector<CampaignRecord> Store::campaigns() const {
  std::vector<CampaignRecord> all;
  Statement row(database_, select_campaigns);
  while (row.next())
    all.push_back({row.text(0), row.integer(1), row.real(2), row.natural(3), row.natural(4), row.natural(5),
                   row.text(6), row.text(7), row.text(8), row.text(9)});
  return all;
}

std::vector<CampaignSample> Store::samples(const std::string& campaign) const {
  std::vector<CampaignSample> all;
  Statement row(database_,
                "SELECT campaign, second, cases, bins, buckets FROM samples WHERE ?1 IN ('', campaign) ORDER BY "
                "campaign, second");
  row.start(campaign);
  while (row.next()) all.push_back({row.text(0), row.integer(1), row.natural(2), row.natural(3), row.natural(4)});
  return all;
}

std::vector<CoverageRecord> Store::coverage(const std::string& campaign) const {
  const BinNumbers numbers = bin_numbers(database_);  // ordered by name
  size_t most = 0;
  for (const auto& [bin, number] : numbers) most = std::max(most, number);
  struct BinsOfField {
    std::vector<uint64_t> hits;
    std::string possible;  // bins not ruled out; empty: unknown, and all bins are listed
  };
  std::map<std::pair<std::string, std::string>, BinsOfField> fields;  // by field and op
  Statement row(database_, select_reached);
  row.start(campaign);
  while (row.next()) {
    BinsOfField& bins = fields[{row.text(1), row.text(2)}];
    bins.hits.resize(most + 1);
    bins.possible = row.text(4);
    for_each_bit(row.text(3), [&](size_t bin) { ++bins.hits.at(bin); });
  }
  std::vector<CoverageRecord> all;
  for (const auto& [subject, bins] : fields)
    for (const auto& [bin, number] : numbers)
      if (bins.hits[number] || bins.possible.empty() || has_bit(bins.possible, number))
        all.push_back({campaign, subject.first, subject.second, bin, bins.hits[number]});
  return all;
}

std::vector<PairRecord> Store::pairs(const std::string& campaign) const {
  std::vector<PairRecord> all;
  Statement row(database_,
                "SELECT ?1, op, first_unit, second_unit, sum(compared), sum(differing), property FROM pairs WHERE ?1 "
                "IN ('', campaign) GROUP BY 2, 3, 4, 7 ORDER BY 2, 3, 4, 7");
  row.start(campaign);
  while (row.next())
    all.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.natural(4), row.natural(5), row.text(6)});
  return all;
}

void Store::write_witnesses() const {
  const std::string folder = (std::filesystem::path(path()).parent_path() / "witnesses").string();
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) throw std::runtime_error(folder + ": cannot be created: " + error.message());
  for (const Bucket& bucket : select(database_, "WHERE witness <> ''", ""))
    if (is_minimized(bucket)) replace_file_if_other(folder + "/" + bucket.id() + ".cases", bucket.witness);
}

size_t Store::prune(int64_t before) {
  std::vector<int64_t> numbers;
  atomically([&] {
    Statement row(
        database_,
        "SELECT c.number FROM campaign_numbers c JOIN campaigns USING(uuid) WHERE started < ?1 AND (EXISTS(SELECT 1 "
        "FROM campaign_samples WHERE campaign = c.number) OR EXISTS(SELECT 1 FROM reached WHERE campaign = c.number) "
        "OR EXISTS(SELECT 1 FROM pair_counts WHERE campaign = c.number))");
    row.start(before);
    while (row.next()) numbers.push_back(row.integer(0));
    for (const char* table : {"campaign_samples", "reached", "pair_counts"}) {
      Statement gone(database_, (std::string("DELETE FROM ") + table + " WHERE campaign = ?").c_str());
      for (const int64_t number : numbers) gone.run(number);
    }
    database_.run(delete_unused_texts.c_str());
  });
  database_.shrink();
  return numbers.size();
}

std::map<std::string, std::set<std::string>> Store::bins_of_campaigns() const {
  std::vector<std::string> names;
  for (const auto& [bin, number] : bin_numbers(database_)) {
    names.resize(std::max(names.size(), number + 1));
    names[number] = bin;
  }
  std::map<std::string, std::set<std::string>> all;
  Statement row(database_,
                "SELECT c.uuid, united_all(r.bins) FROM reached r JOIN campaign_numbers c ON c.number = r.campaign "
                "GROUP BY r.campaign");
  while (row.next()) for_each_bit(row.text(1), [&](size_t bin) { all[row.text(0)].insert(names.at(bin)); });
  return all;
}

std::map<std::string, std::vector<std::pair<std::string, uint64_t>>> Store::counts() const {
  std::map<std::string, std::vector<std::pair<std::string, uint64_t>>> all;
  Statement row(database_, "SELECT bucket, campaign, count FROM counts");
  while (row.next()) all[row.text(0)].emplace_back(row.text(1), row.natural(2));
  return all;
}

}  // namespace mmafuzz
