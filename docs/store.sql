-- The tables and views of a store, version 1 (docs/store.md). Times are seconds since 1970, UTC. An unsigned 64-bit
-- number (a seed) is stored as the signed number with the same bits. A number of a campaign, bucket or text is of this
-- file alone: a merge gives others. Names and texts that rows repeat have numbers, a bin is a bit: a year of nights
-- stays small. Views have the names.

--   uuid: identifies the campaign; it stays the same when the campaign is resumed or triaged again
--   started: the time of its start
--   seconds: how long it ran
--   cases, inputs: number of cases evaluated; number of inputs, each of which may be many cases
--   seed: the campaign's seed
--   command: the shell command that started it
--   machine: the machine on which it ran: CPU, GPU, operating system
--   version: the version of mmafuzz
--   inconclusive: why nothing can be concluded from the campaign, else empty: triage did not run or did not end, or a
--     unit answered no case. Reports say so and fail
CREATE TABLE campaigns(
  uuid TEXT PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL, cases INTEGER NOT NULL, inputs INTEGER NOT NULL,
  seed INTEGER NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL,
  inconclusive TEXT NOT NULL DEFAULT '') WITHOUT ROWID;

-- The view `buckets` has texts in place of numbers.
--   id: ten hexadecimal digits: the first of the 64-bit FNV-1a hash of the line `mmafuzz: divergence <property> <op>
--     <units> <value_class> <cause>`
--   property: `equal`, `equals_model`, or the name of a property (`mmafuzz list properties`)
--   op: label of the op, for example `dot.f32.f16.f16.f32`
--   first_unit, second_unit: names of units; second_unit is empty if a property of one unit fails
--   value_class: the kind of results that differ: normal, subnormal, overflow, special, zero_sign, flags
--   cause: parameters, comma-separated in their documented order, or `unexplained`, `unstable`, or another word
--   detail: the cause in words
--   severity: contract, accuracy, semantic
--   first_seen, last_seen: the times at which the bucket was first and last seen
--   seed: the seed of the campaign that saw it first
--   witness: case text: comments (`# results`: those of both sides), the op line, the case, the changed case.
--     `mmafuzz findings STORE --show ID` prints it as a whole file. What begins with `mmafuzz-cases 1` is one.
--     `0000*14` stands for fourteen times `0000`
--   addends: number of nonzero addends of the witness (dot), of nonzero operands (other ops)
--   status: `new`: nobody decided; `known`: a person saw it and nothing follows from it; `expected`: it must be so;
--     `fixed`: it must not come again. `mmafuzz merge --fail-on-new` reports what is new and grave, and what was
--     fixed and is back. Decisions belong in the store into which others are merged
--   note: the reason for the status, by the person who set it
--   status_set: the time at which a person set the status; 0 if nobody did
--   facts: the facts that the cause consists of, one a line (names: docs/facts.md)
CREATE TABLE texts(number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
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
CREATE VIEW buckets AS
  SELECT r.id AS id, p.text AS property, o.text AS op, u.text AS first_unit, v.text AS second_unit,
         k.text AS value_class, c.text AS cause, d.text AS detail, r.severity AS severity, r.first_seen AS first_seen,
         r.last_seen AS last_seen, r.seed AS seed, r.witness AS witness, r.addends AS addends, r.status AS status,
         r.note AS note, r.status_set AS status_set, f.text AS facts, r.number AS number
  FROM bucket_rows r JOIN texts p ON p.number = r.property JOIN texts o ON o.number = r.op
  JOIN texts u ON u.number = r.first_unit JOIN texts v ON v.number = r.second_unit
  JOIN texts k ON k.number = r.value_class JOIN texts c ON c.number = r.cause
  JOIN texts d ON d.number = r.detail JOIN texts f ON f.number = r.facts;

-- The number of raw divergences (divergences before minimization) of a bucket in a campaign. The count of a bucket is
-- the sum over all campaigns.
CREATE TABLE campaign_numbers(number INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE REFERENCES campaigns(uuid));
CREATE TABLE bucket_counts(
  bucket INTEGER NOT NULL REFERENCES bucket_rows(number), campaign INTEGER NOT NULL REFERENCES campaign_numbers(number),
  count INTEGER NOT NULL, PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
CREATE VIEW counts AS
  SELECT b.id AS bucket, c.uuid AS campaign, n.count AS count
  FROM bucket_counts n JOIN bucket_rows b ON b.number = n.bucket JOIN campaign_numbers c ON c.number = n.campaign;

-- The progress of a campaign over time: second counts from its start; the others are the cases evaluated, the bins
-- reached (summed over fields) and the buckets found by then. Triage keeps 256 of a campaign. A campaign of shards has
-- one, its end.
CREATE TABLE campaign_samples(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), second INTEGER NOT NULL, cases INTEGER NOT NULL,
  bins INTEGER NOT NULL, buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
CREATE VIEW samples AS
  SELECT c.uuid AS campaign, s.second AS second, s.cases AS cases, s.bins AS bins, s.buckets AS buckets
  FROM campaign_samples s JOIN campaign_numbers c ON c.number = s.campaign;

-- The bins of docs/coverage.md. field is the focus unit (the unit that was observed), or the fuzz target if there is
-- none. A row of the view `coverage` stands for each bin that is not ruled out on the op and the field: hits is 1 if the
-- campaign reached it, and 0 if not. Of a bin that was never reached nobody knows whether it can be.
-- In reached, bit n of bins stands for the bin with number n: bit n % 8, from the lowest, of byte n / 8. So does
-- possible of subjects: the bins that are not ruled out. It only grows: it is the union of what all versions that wrote
-- to the store, or to one merged into it, did not rule out, so a bin that a later version rules out stays. Where it is
-- empty, no bin is ruled out.
CREATE TABLE bins(bin TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE subjects(
  number INTEGER PRIMARY KEY, field TEXT NOT NULL, op TEXT NOT NULL, possible BLOB NOT NULL DEFAULT x'', UNIQUE(field, op));
CREATE TABLE reached(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), subject INTEGER NOT NULL REFERENCES subjects(number),
  bins BLOB NOT NULL, PRIMARY KEY(campaign, subject)) WITHOUT ROWID;
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

-- The number of cases of one op on which a property was checked (compared), and of those on which it failed (differing).
-- The property is one of two units (equal, equals_model), or one of a single unit; then second_unit is empty.
CREATE TABLE pair_numbers(
  number INTEGER PRIMARY KEY, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL, property TEXT NOT NULL,
  UNIQUE(op, first_unit, second_unit, property));
CREATE TABLE pair_counts(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), pair INTEGER NOT NULL REFERENCES pair_numbers(number),
  compared INTEGER NOT NULL, differing INTEGER NOT NULL, PRIMARY KEY(campaign, pair)) WITHOUT ROWID;
CREATE VIEW pairs AS
  SELECT c.uuid AS campaign, p.op AS op, p.first_unit AS first_unit, p.second_unit AS second_unit,
         p.property AS property, n.compared AS compared, n.differing AS differing
  FROM pair_counts n JOIN campaign_numbers c ON c.number = n.campaign JOIN pair_numbers p ON p.number = n.pair;
