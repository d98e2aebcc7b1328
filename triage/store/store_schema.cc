#include "triage/store/store_schema.h"

#include <algorithm>
#include <string>

#include "core/words.h"
#include "triage/facts/fact_name.h"

namespace mmafuzz {
namespace {

constexpr const char version_1[] = R"sql(
CREATE TABLE campaigns(
  uuid TEXT PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL, cases INTEGER NOT NULL, inputs INTEGER NOT NULL,
  seed INTEGER NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE buckets(
  id TEXT PRIMARY KEY, property TEXT NOT NULL, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  value_class TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
  severity TEXT NOT NULL CHECK(severity IN ('contract', 'accuracy', 'semantic')),
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, seed INTEGER NOT NULL, command TEXT NOT NULL,
  witness TEXT NOT NULL, addends INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'new' CHECK(status IN ('new', 'known', 'expected', 'fixed')));
CREATE TABLE counts(
  bucket TEXT NOT NULL REFERENCES buckets(id), campaign TEXT NOT NULL REFERENCES campaigns(uuid), count INTEGER NOT NULL,
  PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
CREATE TABLE samples(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), second INTEGER NOT NULL, cases INTEGER NOT NULL, bins INTEGER NOT NULL,
  buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
CREATE TABLE coverage(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), field TEXT NOT NULL, op TEXT NOT NULL, bin_group TEXT NOT NULL,
  bin TEXT NOT NULL, hits INTEGER NOT NULL, PRIMARY KEY(campaign, field, op, bin_group, bin)) WITHOUT ROWID;
)sql";

// When somebody set a status, so that the later of two wins; a status of version 1 was set at an unknown time, before
// all others.
constexpr const char version_2[] = R"sql(
ALTER TABLE buckets ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE buckets ADD COLUMN status_set INTEGER NOT NULL DEFAULT 0;
UPDATE buckets SET status_set = 1 WHERE status <> 'new';
CREATE TABLE pairs(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  property TEXT NOT NULL DEFAULT 'equal', compared INTEGER NOT NULL, differing INTEGER NOT NULL,
  PRIMARY KEY(campaign, op, first_unit, second_unit, property)) WITHOUT ROWID;
)sql";

// The facts of a bucket's cause; a bucket of an older store has none until it is triaged again. Whether a campaign's
// divergences are in buckets. Coverage without repeated names: nine tenths of a store were names of bins. A bin that a
// field does not mention was never reached by it.
constexpr const char version_3_facts[] = "ALTER TABLE buckets ADD COLUMN facts TEXT NOT NULL DEFAULT '';";
constexpr const char version_3_untriaged[] = "ALTER TABLE campaigns ADD COLUMN untriaged INTEGER NOT NULL DEFAULT 0;";
constexpr const char version_3_coverage[] = R"sql(
CREATE TABLE bins(id INTEGER PRIMARY KEY, bin_group TEXT NOT NULL, bin TEXT NOT NULL, UNIQUE(bin_group, bin));
CREATE TABLE fields(
  id INTEGER PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns(uuid), field TEXT NOT NULL, op TEXT NOT NULL,
  UNIQUE(campaign, field, op));
CREATE TABLE hits(
  field INTEGER NOT NULL REFERENCES fields(id), bin INTEGER NOT NULL REFERENCES bins(id), hits INTEGER NOT NULL,
  PRIMARY KEY(field, bin)) WITHOUT ROWID;
INSERT INTO bins(bin_group, bin) SELECT DISTINCT bin_group, bin FROM coverage;
INSERT INTO fields(campaign, field, op) SELECT DISTINCT campaign, field, op FROM coverage;
INSERT INTO hits SELECT f.id, b.id, c.hits FROM coverage c JOIN fields f USING(campaign, field, op)
  JOIN bins b USING(bin_group, bin) WHERE c.hits > 0;
DROP TABLE coverage;
CREATE VIEW coverage AS
  SELECT f.campaign AS campaign, f.field AS field, f.op AS op, b.bin_group AS bin_group, b.bin AS bin,
         coalesce(h.hits, 0) AS hits
  FROM fields f CROSS JOIN bins b LEFT JOIN hits h ON h.field = f.id AND h.bin = b.id;
)sql";

// The command follows from the witness, and the witness leaves out what other columns say: most of a store was that.
constexpr const char version_4[] = "ALTER TABLE buckets DROP COLUMN command;";

// A year of nights: numbers for names that every campaign repeats, a bit for each bin. What the tables were are views.
constexpr const char version_5[] = R"sql(
CREATE TABLE campaign_numbers(number INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE REFERENCES campaigns(uuid));
INSERT INTO campaign_numbers(uuid) SELECT uuid FROM campaigns ORDER BY started, uuid;

CREATE TABLE bucket_numbers(number INTEGER PRIMARY KEY, bucket TEXT NOT NULL UNIQUE REFERENCES buckets(id));
INSERT INTO bucket_numbers(bucket) SELECT id FROM buckets ORDER BY id;
CREATE TABLE bucket_counts(
  bucket INTEGER NOT NULL REFERENCES bucket_numbers(number), campaign INTEGER NOT NULL REFERENCES campaign_numbers(number),
  count INTEGER NOT NULL, PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
INSERT INTO bucket_counts SELECT b.number, c.number, o.count FROM counts o JOIN bucket_numbers b ON b.bucket = o.bucket
  JOIN campaign_numbers c ON c.uuid = o.campaign;
DROP TABLE counts;
CREATE VIEW counts AS
  SELECT b.bucket AS bucket, c.uuid AS campaign, n.count AS count
  FROM bucket_counts n JOIN bucket_numbers b ON b.number = n.bucket JOIN campaign_numbers c ON c.number = n.campaign;

CREATE TABLE campaign_samples(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), second INTEGER NOT NULL, cases INTEGER NOT NULL,
  bins INTEGER NOT NULL, buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
INSERT INTO campaign_samples SELECT c.number, o.second, o.cases, o.bins, o.buckets FROM samples o
  JOIN campaign_numbers c ON c.uuid = o.campaign;
DROP TABLE samples;
CREATE VIEW samples AS
  SELECT c.uuid AS campaign, s.second AS second, s.cases AS cases, s.bins AS bins, s.buckets AS buckets
  FROM campaign_samples s JOIN campaign_numbers c ON c.number = s.campaign;

CREATE TABLE subjects(number INTEGER PRIMARY KEY, field TEXT NOT NULL, op TEXT NOT NULL, UNIQUE(field, op));
INSERT INTO subjects(field, op) SELECT DISTINCT field, op FROM fields ORDER BY field, op;
CREATE TABLE reached(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), subject INTEGER NOT NULL REFERENCES subjects(number),
  bins BLOB NOT NULL, PRIMARY KEY(campaign, subject)) WITHOUT ROWID;
INSERT INTO reached SELECT c.number, s.number, bits(h.bin) FROM fields f JOIN campaign_numbers c ON c.uuid = f.campaign
  JOIN subjects s ON s.field = f.field AND s.op = f.op LEFT JOIN hits h ON h.field = f.id AND h.hits > 0
  GROUP BY c.number, s.number;
DROP VIEW coverage;
DROP TABLE hits;
DROP TABLE fields;
CREATE VIEW coverage AS
  SELECT c.uuid AS campaign, s.field AS field, s.op AS op, b.bin_group AS bin_group, b.bin AS bin,
         max(0, instr('0123456789ABCDEF', substr(hex(substr(r.bins, b.id / 8 + 1, 1)), 2 - (b.id >> 2 & 1), 1)) - 1)
           >> (b.id & 3) & 1 AS hits
  FROM reached r JOIN campaign_numbers c ON c.number = r.campaign JOIN subjects s ON s.number = r.subject
  CROSS JOIN bins b;

CREATE TABLE pair_numbers(
  number INTEGER PRIMARY KEY, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL, property TEXT NOT NULL,
  UNIQUE(op, first_unit, second_unit, property));
INSERT INTO pair_numbers(op, first_unit, second_unit, property)
  SELECT DISTINCT op, first_unit, second_unit, property FROM pairs ORDER BY 1, 2, 3, 4;
CREATE TABLE pair_counts(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), pair INTEGER NOT NULL REFERENCES pair_numbers(number),
  compared INTEGER NOT NULL, differing INTEGER NOT NULL, PRIMARY KEY(campaign, pair)) WITHOUT ROWID;
INSERT INTO pair_counts SELECT c.number, p.number, o.compared, o.differing FROM pairs o
  JOIN campaign_numbers c ON c.uuid = o.campaign JOIN pair_numbers p ON p.op = o.op AND p.first_unit = o.first_unit
    AND p.second_unit = o.second_unit AND p.property = o.property;
DROP TABLE pairs;
CREATE VIEW pairs AS
  SELECT c.uuid AS campaign, p.op AS op, p.first_unit AS first_unit, p.second_unit AS second_unit,
         p.property AS property, n.compared AS compared, n.differing AS differing
  FROM pair_counts n JOIN campaign_numbers c ON c.number = n.campaign JOIN pair_numbers p ON p.number = n.pair;
)sql";

// Witnesses write runs of one operand short, which older programs cannot read. Those that are stored stay as they are.
constexpr const char version_6[] = "SELECT 1;";

// The name of a bin begins with its group's, and one tree is enough to find it: bins were a sixth of a store.
constexpr const char version_7[] = R"sql(
CREATE TABLE numbered_bins(bin TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO numbered_bins
  SELECT CASE WHEN substr(bin, 1, length(bin_group) + 1) = bin_group || '.' THEN bin ELSE bin_group || '.' || bin END, id
  FROM bins;
DROP VIEW coverage;
DROP TABLE bins;
ALTER TABLE numbered_bins RENAME TO bins;
CREATE VIEW coverage AS
  SELECT c.uuid AS campaign, s.field AS field, s.op AS op, substr(b.bin, 1, instr(b.bin, '.') - 1) AS bin_group,
         b.bin AS bin,
         max(0, instr('0123456789ABCDEF',
                      substr(hex(substr(r.bins, b.number / 8 + 1, 1)), 2 - (b.number >> 2 & 1), 1)) - 1)
           >> (b.number & 3) & 1 AS hits
  FROM reached r JOIN campaign_numbers c ON c.number = r.campaign JOIN subjects s ON s.number = r.subject
  CROSS JOIN bins b;
)sql";

// Buckets repeat a few texts: of names and sentences each stands once. A bucket's number is a column of its own row. An
// exact sum is one kernel, whether the reference or a row has it. Which bins a field can reach: of an older store
// nobody knows, and all of them count.
constexpr const char version_8[] = R"sql(
CREATE TABLE texts(number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
UPDATE buckets SET facts = named_today(facts);
INSERT INTO texts(text)
  SELECT property FROM buckets UNION SELECT op FROM buckets UNION SELECT first_unit FROM buckets
  UNION SELECT second_unit FROM buckets UNION SELECT value_class FROM buckets UNION SELECT cause FROM buckets
  UNION SELECT detail FROM buckets UNION SELECT facts FROM buckets;
CREATE TABLE bucket_rows(
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  property INTEGER NOT NULL REFERENCES texts(number), op INTEGER NOT NULL REFERENCES texts(number),
  first_unit INTEGER NOT NULL REFERENCES texts(number), second_unit INTEGER NOT NULL REFERENCES texts(number),
  value_class INTEGER NOT NULL REFERENCES texts(number), cause INTEGER NOT NULL REFERENCES texts(number),
  detail INTEGER NOT NULL REFERENCES texts(number), facts INTEGER NOT NULL REFERENCES texts(number),
  severity TEXT NOT NULL CHECK(severity IN ('contract', 'accuracy', 'semantic')),
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, seed INTEGER NOT NULL,
  witness TEXT NOT NULL, addends INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'new' CHECK(status IN ('new', 'known', 'expected', 'fixed')),
  note TEXT NOT NULL DEFAULT '', status_set INTEGER NOT NULL DEFAULT 0);
INSERT INTO bucket_rows SELECT n.number, b.id,
    (SELECT number FROM texts WHERE text = b.property), (SELECT number FROM texts WHERE text = b.op),
    (SELECT number FROM texts WHERE text = b.first_unit), (SELECT number FROM texts WHERE text = b.second_unit),
    (SELECT number FROM texts WHERE text = b.value_class), (SELECT number FROM texts WHERE text = b.cause),
    (SELECT number FROM texts WHERE text = b.detail), (SELECT number FROM texts WHERE text = b.facts),
    b.severity, b.first_seen, b.last_seen, b.seed, b.witness, b.addends, b.status, b.note, b.status_set
  FROM buckets b LEFT JOIN bucket_numbers n ON n.bucket = b.id ORDER BY n.number IS NULL, n.number, b.id;
CREATE TABLE counted(
  bucket INTEGER NOT NULL REFERENCES bucket_rows(number), campaign INTEGER NOT NULL REFERENCES campaign_numbers(number),
  count INTEGER NOT NULL, PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
INSERT INTO counted SELECT bucket, campaign, count FROM bucket_counts;
DROP VIEW counts;
DROP TABLE bucket_counts;
DROP TABLE bucket_numbers;
DROP TABLE buckets;
ALTER TABLE counted RENAME TO bucket_counts;
CREATE VIEW counts AS
  SELECT b.id AS bucket, c.uuid AS campaign, n.count AS count
  FROM bucket_counts n JOIN bucket_rows b ON b.number = n.bucket JOIN campaign_numbers c ON c.number = n.campaign;
CREATE VIEW buckets AS
  SELECT r.id AS id, p.text AS property, o.text AS op, u.text AS first_unit, v.text AS second_unit,
         k.text AS value_class, c.text AS cause, d.text AS detail, r.severity AS severity, r.first_seen AS first_seen,
         r.last_seen AS last_seen, r.seed AS seed, r.witness AS witness, r.addends AS addends, r.status AS status,
         r.note AS note, r.status_set AS status_set, f.text AS facts, r.number AS number
  FROM bucket_rows r JOIN texts p ON p.number = r.property JOIN texts o ON o.number = r.op
  JOIN texts u ON u.number = r.first_unit JOIN texts v ON v.number = r.second_unit
  JOIN texts k ON k.number = r.value_class JOIN texts c ON c.number = r.cause
  JOIN texts d ON d.number = r.detail JOIN texts f ON f.number = r.facts;
ALTER TABLE subjects ADD COLUMN possible BLOB NOT NULL DEFAULT x'';
DROP VIEW coverage;
CREATE VIEW coverage AS
  SELECT campaign, field, op, bin_group, bin, hits FROM (
    SELECT c.uuid AS campaign, s.field AS field, s.op AS op, substr(b.bin, 1, instr(b.bin, '.') - 1) AS bin_group,
           b.bin AS bin, length(s.possible) = 0 AS unknown,
           max(0, instr('0123456789ABCDEF',
                        substr(hex(substr(r.bins, b.number / 8 + 1, 1)), 2 - (b.number >> 2 & 1), 1)) - 1)
             >> (b.number & 3) & 1 AS hits,
           max(0, instr('0123456789ABCDEF',
                        substr(hex(substr(s.possible, b.number / 8 + 1, 1)), 2 - (b.number >> 2 & 1), 1)) - 1)
             >> (b.number & 3) & 1 AS possible
    FROM reached r JOIN campaign_numbers c ON c.number = r.campaign JOIN subjects s ON s.number = r.subject
    CROSS JOIN bins b)
  WHERE hits OR possible OR unknown;
)sql";

// ---- functions of the scripts and of the store's statements ----

std::string bytes_of(sqlite3_value* value) {
  const void* data = sqlite3_value_blob(value);
  return data ? std::string(static_cast<const char*>(data), static_cast<size_t>(sqlite3_value_bytes(value))) : "";
}

void give(sqlite3_context* context, const std::string& bytes) {
  sqlite3_result_blob(context, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
}

void unite(std::string& all, const std::string& more) {
  all.resize(std::max(all.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) all[i] = static_cast<char>(all[i] | more[i]);
}

/// united(x, y): a bit that is in either.
void united(sqlite3_context* context, int, sqlite3_value** arguments) {
  std::string all = bytes_of(arguments[0]);
  unite(all, bytes_of(arguments[1]));
  give(context, all);
}

/// bits(number), over the rows of a group: bit number n of the blob for each n that is not null.
void bits_step(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto** bytes = static_cast<std::string**>(sqlite3_aggregate_context(context, sizeof(std::string*)));
  if (!*bytes) *bytes = new std::string;
  if (sqlite3_value_type(arguments[0]) != SQLITE_NULL)
    set_bit(**bytes, static_cast<size_t>(sqlite3_value_int64(arguments[0])));
}
/// united_all(bits), over the rows of a group.
void united_step(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto** bytes = static_cast<std::string**>(sqlite3_aggregate_context(context, sizeof(std::string*)));
  if (!*bytes) *bytes = new std::string;
  unite(**bytes, bytes_of(arguments[0]));
}
void bits_end(sqlite3_context* context) {
  auto** bytes = static_cast<std::string**>(sqlite3_aggregate_context(context, 0));
  give(context, bytes && *bytes ? **bytes : "");
  if (bytes) delete *bytes;
}

/// named_today(facts): an exact sum is one kernel, whether a row or the reference has it.
void named_today(sqlite3_context* context, int, sqlite3_value** arguments) {
  std::string names;
  for (const std::string& name : words_of(bytes_of(arguments[0]), '\n')) {
    const FactParts parts = parts_of_fact(name);
    names += (names.empty() ? "" : "\n") + (parts.subject == "kernel" ? kernel_fact(parts.first, parts.second) : name);
  }
  sqlite3_result_text(context, names.data(), static_cast<int>(names.size()), SQLITE_TRANSIENT);
}

void add_store_functions(sqlite3* connection) {
  constexpr int plain = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  sqlite3_create_function(connection, "united", 2, plain, nullptr, united, nullptr, nullptr);
  sqlite3_create_function(connection, "united_all", 1, plain, nullptr, nullptr, united_step, bits_end);
  sqlite3_create_function(connection, "named_today", 1, plain, nullptr, named_today, nullptr, nullptr);
  sqlite3_create_function(connection, "bits", 1, plain, nullptr, nullptr, bits_step, bits_end);
}

/// Version 2 had pairs without a property first. Version 3 had three shapes before it stayed: without `untriaged`, and
/// without the tables of coverage. Such files went on to version 4 as they were.
void mend_store(const Database& store, int64_t version) {
  if (version < 2 || version > 4) return;
  if (!store.number("SELECT count(*) FROM pragma_table_info('pairs') WHERE name = 'property'"))
    store.run("ALTER TABLE pairs ADD COLUMN property TEXT NOT NULL DEFAULT 'equal'");
  if (version == 2) return;
  if (!store.number("SELECT count(*) FROM pragma_table_info('campaigns') WHERE name = 'untriaged'"))
    store.run(version_3_untriaged);
  if (!store.number("SELECT count(*) FROM sqlite_master WHERE name = 'bins'")) store.run(version_3_coverage);
}

}  // namespace

void set_bit(std::string& bytes, size_t bit) {
  if (bytes.size() <= bit / 8) bytes.resize(bit / 8 + 1);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] | 1 << bit % 8);
}

bool has_bit(const std::string& bytes, size_t bit) { return bit / 8 < bytes.size() && bytes[bit / 8] >> bit % 8 & 1; }

const DatabaseKind& store_kind() {
  static const std::string version_3 = std::string(version_3_facts) + version_3_untriaged + version_3_coverage;
  static const char* const upgrades[] = {version_1, version_2, version_3.c_str(), version_4,
                                         version_5, version_6, version_7,         version_8};
  // The check of SQLite 3.40 misreads a table without rowid whose key has the last column; the first shape of version 2
  // had one. A number that is missing there fails the upgrade.
  static const DatabaseKind kind{"mmafuzz store",     0x6d6d6166, upgrades,
                                 add_store_functions, mend_store, "NULL value in pairs."};
  return kind;
}

}  // namespace mmafuzz
