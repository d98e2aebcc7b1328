-- A store as the code of commit 7c05302 made it, version 7; its rows are of the test's own making.
BEGIN TRANSACTION;
CREATE TABLE "bins"(bin TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "bins" VALUES('align.far',1);
INSERT INTO "bins" VALUES('align.near',2);
INSERT INTO "bins" VALUES('align.never',3);
CREATE TABLE bucket_counts(
  bucket INTEGER NOT NULL REFERENCES bucket_numbers(number), campaign INTEGER NOT NULL REFERENCES campaign_numbers(number),
  count INTEGER NOT NULL, PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
INSERT INTO "bucket_counts" VALUES(1,1,9);
CREATE TABLE bucket_numbers(number INTEGER PRIMARY KEY, bucket TEXT NOT NULL UNIQUE REFERENCES buckets(id));
INSERT INTO "bucket_numbers" VALUES(1,'1bb4fcd5a2');
CREATE TABLE buckets(
  id TEXT PRIMARY KEY, property TEXT NOT NULL, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  value_class TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
  severity TEXT NOT NULL CHECK(severity IN ('contract', 'accuracy', 'semantic')),
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, seed INTEGER NOT NULL, witness TEXT NOT NULL, addends INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'new' CHECK(status IN ('new', 'known', 'expected', 'fixed')), note TEXT NOT NULL DEFAULT '', status_set INTEGER NOT NULL DEFAULT 0, facts TEXT NOT NULL DEFAULT '');
INSERT INTO "buckets" VALUES('1bb4fcd5a2','equal','dot.f32.f16.f16.f32','exact','model:u1','normal','fraction_bits','d','semantic',1000,2000,7,'witness',2,'expected','',1,'kernel=exact~fused_sum
kernel=emulated_fp8~exact
kernel=cpu:x87.f32~exact
kernel=ieee~ieee_tree');
CREATE TABLE campaign_numbers(number INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE REFERENCES campaigns(uuid));
INSERT INTO "campaign_numbers" VALUES(1,'c');
CREATE TABLE campaign_samples(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), second INTEGER NOT NULL, cases INTEGER NOT NULL,
  bins INTEGER NOT NULL, buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
INSERT INTO "campaign_samples" VALUES(1,30,5,2,1);
CREATE TABLE campaigns(
  uuid TEXT PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL, cases INTEGER NOT NULL, inputs INTEGER NOT NULL,
  seed INTEGER NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL, untriaged INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO "campaigns" VALUES('c',1000,60.5,10,20,7,'x','y','0.1.0',0);
CREATE TABLE pair_counts(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), pair INTEGER NOT NULL REFERENCES pair_numbers(number),
  compared INTEGER NOT NULL, differing INTEGER NOT NULL, PRIMARY KEY(campaign, pair)) WITHOUT ROWID;
INSERT INTO "pair_counts" VALUES(1,1,100,40);
CREATE TABLE pair_numbers(
  number INTEGER PRIMARY KEY, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL, property TEXT NOT NULL,
  UNIQUE(op, first_unit, second_unit, property));
INSERT INTO "pair_numbers" VALUES(1,'dot.f32.f16.f16.f32','exact','model:u1','equal');
CREATE TABLE reached(
  campaign INTEGER NOT NULL REFERENCES campaign_numbers(number), subject INTEGER NOT NULL REFERENCES subjects(number),
  bins BLOB NOT NULL, PRIMARY KEY(campaign, subject)) WITHOUT ROWID;
INSERT INTO "reached" VALUES(1,1,X'06');
CREATE TABLE subjects(number INTEGER PRIMARY KEY, field TEXT NOT NULL, op TEXT NOT NULL, UNIQUE(field, op));
INSERT INTO "subjects" VALUES(1,'model:u1','dot.f32.f16.f16.f32');
CREATE VIEW counts AS
  SELECT b.bucket AS bucket, c.uuid AS campaign, n.count AS count
  FROM bucket_counts n JOIN bucket_numbers b ON b.number = n.bucket JOIN campaign_numbers c ON c.number = n.campaign;
CREATE VIEW samples AS
  SELECT c.uuid AS campaign, s.second AS second, s.cases AS cases, s.bins AS bins, s.buckets AS buckets
  FROM campaign_samples s JOIN campaign_numbers c ON c.number = s.campaign;
CREATE VIEW pairs AS
  SELECT c.uuid AS campaign, p.op AS op, p.first_unit AS first_unit, p.second_unit AS second_unit,
         p.property AS property, n.compared AS compared, n.differing AS differing
  FROM pair_counts n JOIN campaign_numbers c ON c.number = n.campaign JOIN pair_numbers p ON p.number = n.pair;
CREATE VIEW coverage AS
  SELECT c.uuid AS campaign, s.field AS field, s.op AS op, substr(b.bin, 1, instr(b.bin, '.') - 1) AS bin_group,
         b.bin AS bin,
         max(0, instr('0123456789ABCDEF',
                      substr(hex(substr(r.bins, b.number / 8 + 1, 1)), 2 - (b.number >> 2 & 1), 1)) - 1)
           >> (b.number & 3) & 1 AS hits
  FROM reached r JOIN campaign_numbers c ON c.number = r.campaign JOIN subjects s ON s.number = r.subject
  CROSS JOIN bins b;
COMMIT;
PRAGMA application_id = 1835884902;
PRAGMA user_version = 7;
