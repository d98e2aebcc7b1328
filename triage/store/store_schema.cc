#include "triage/store/store_schema.h"

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
constexpr const char version_3[] = R"sql(
ALTER TABLE buckets ADD COLUMN facts TEXT NOT NULL DEFAULT '';
ALTER TABLE campaigns ADD COLUMN untriaged INTEGER NOT NULL DEFAULT 0;
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

constexpr const char* upgrades[] = {version_1, version_2, version_3, version_4};

}  // namespace

const DatabaseKind& store_kind() {
  static const DatabaseKind kind{"mmafuzz store", 0x6d6d6166, upgrades};
  return kind;
}

}  // namespace mmafuzz
