-- A store as the code of commit 88cc759 made it, version 4; its rows are of the test's own making.
BEGIN TRANSACTION;
CREATE TABLE bins(id INTEGER PRIMARY KEY, bin_group TEXT NOT NULL, bin TEXT NOT NULL, UNIQUE(bin_group, bin));
INSERT INTO "bins" VALUES(1,'align','far');
INSERT INTO "bins" VALUES(2,'align','near');
INSERT INTO "bins" VALUES(3,'align','never');
CREATE TABLE buckets(
  id TEXT PRIMARY KEY, property TEXT NOT NULL, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  value_class TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
  severity TEXT NOT NULL CHECK(severity IN ('contract', 'accuracy', 'semantic')),
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, seed INTEGER NOT NULL, witness TEXT NOT NULL, addends INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'new' CHECK(status IN ('new', 'known', 'expected', 'fixed')), note TEXT NOT NULL DEFAULT '', status_set INTEGER NOT NULL DEFAULT 0, facts TEXT NOT NULL DEFAULT '');
INSERT INTO "buckets" VALUES('1bb4fcd5a2','equal','dot.f32.f16.f16.f32','exact','model:u1','normal','fraction_bits','d','semantic',1000,2000,7,'witness',2,'expected','',1,'');
CREATE TABLE campaigns(
  uuid TEXT PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL, cases INTEGER NOT NULL, inputs INTEGER NOT NULL,
  seed INTEGER NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL, untriaged INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO "campaigns" VALUES('c',1000,60.5,10,20,7,'x','y','0.1.0',0);
CREATE TABLE counts(
  bucket TEXT NOT NULL REFERENCES buckets(id), campaign TEXT NOT NULL REFERENCES campaigns(uuid), count INTEGER NOT NULL,
  PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
INSERT INTO "counts" VALUES('1bb4fcd5a2','c',9);
CREATE TABLE fields(
  id INTEGER PRIMARY KEY, campaign TEXT NOT NULL REFERENCES campaigns(uuid), field TEXT NOT NULL, op TEXT NOT NULL,
  UNIQUE(campaign, field, op));
INSERT INTO "fields" VALUES(1,'c','model:u1','dot.f32.f16.f16.f32');
CREATE TABLE hits(
  field INTEGER NOT NULL REFERENCES fields(id), bin INTEGER NOT NULL REFERENCES bins(id), hits INTEGER NOT NULL,
  PRIMARY KEY(field, bin)) WITHOUT ROWID;
INSERT INTO "hits" VALUES(1,1,3);
INSERT INTO "hits" VALUES(1,2,1);
CREATE TABLE pairs(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  property TEXT NOT NULL DEFAULT 'equal', compared INTEGER NOT NULL, differing INTEGER NOT NULL,
  PRIMARY KEY(campaign, op, first_unit, second_unit, property)) WITHOUT ROWID;
INSERT INTO "pairs" VALUES('c','dot.f32.f16.f16.f32','exact','model:u1','equal',100,40);
CREATE TABLE samples(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), second INTEGER NOT NULL, cases INTEGER NOT NULL, bins INTEGER NOT NULL,
  buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
INSERT INTO "samples" VALUES('c',30,5,2,1);
CREATE VIEW coverage AS
  SELECT f.campaign AS campaign, f.field AS field, f.op AS op, b.bin_group AS bin_group, b.bin AS bin,
         coalesce(h.hits, 0) AS hits
  FROM fields f CROSS JOIN bins b LEFT JOIN hits h ON h.field = f.id AND h.bin = b.id;
COMMIT;
PRAGMA application_id = 1835884902;
PRAGMA user_version = 4;
