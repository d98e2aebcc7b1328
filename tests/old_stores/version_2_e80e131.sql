-- A store as the code of commit e80e131 made it, version 2; its rows are of the test's own making.
BEGIN TRANSACTION;
CREATE TABLE buckets(
  id TEXT PRIMARY KEY, property TEXT NOT NULL, op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  value_class TEXT NOT NULL, cause TEXT NOT NULL, detail TEXT NOT NULL,
  severity TEXT NOT NULL CHECK(severity IN ('contract', 'accuracy', 'semantic')),
  first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, seed INTEGER NOT NULL, command TEXT NOT NULL,
  witness TEXT NOT NULL, addends INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'new' CHECK(status IN ('new', 'known', 'expected', 'fixed')), note TEXT NOT NULL DEFAULT '', status_set INTEGER NOT NULL DEFAULT 0);
INSERT INTO "buckets" VALUES('1bb4fcd5a2','equal','dot.f32.f16.f16.f32','exact','model:u1','normal','fraction_bits','d','semantic',1000,2000,7,'','witness',2,'expected','',1);
CREATE TABLE campaigns(
  uuid TEXT PRIMARY KEY, started INTEGER NOT NULL, seconds REAL NOT NULL, cases INTEGER NOT NULL, inputs INTEGER NOT NULL,
  seed INTEGER NOT NULL, command TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "campaigns" VALUES('c',1000,60.5,10,20,7,'x','y','0.1.0');
CREATE TABLE counts(
  bucket TEXT NOT NULL REFERENCES buckets(id), campaign TEXT NOT NULL REFERENCES campaigns(uuid), count INTEGER NOT NULL,
  PRIMARY KEY(bucket, campaign)) WITHOUT ROWID;
INSERT INTO "counts" VALUES('1bb4fcd5a2','c',9);
CREATE TABLE coverage(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), field TEXT NOT NULL, op TEXT NOT NULL, bin_group TEXT NOT NULL,
  bin TEXT NOT NULL, hits INTEGER NOT NULL, PRIMARY KEY(campaign, field, op, bin_group, bin)) WITHOUT ROWID;
INSERT INTO "coverage" VALUES('c','model:u1','dot.f32.f16.f16.f32','align','far',3);
INSERT INTO "coverage" VALUES('c','model:u1','dot.f32.f16.f16.f32','align','near',1);
INSERT INTO "coverage" VALUES('c','model:u1','dot.f32.f16.f16.f32','align','never',0);
CREATE TABLE pairs(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), op TEXT NOT NULL, first_unit TEXT NOT NULL, second_unit TEXT NOT NULL,
  compared INTEGER NOT NULL, differing INTEGER NOT NULL, property TEXT NOT NULL DEFAULT 'equal',
  PRIMARY KEY(campaign, op, first_unit, second_unit, property)) WITHOUT ROWID;
INSERT INTO "pairs" VALUES('c','dot.f32.f16.f16.f32','exact','model:u1',100,40,'equal');
CREATE TABLE samples(
  campaign TEXT NOT NULL REFERENCES campaigns(uuid), second INTEGER NOT NULL, cases INTEGER NOT NULL, bins INTEGER NOT NULL,
  buckets INTEGER NOT NULL, PRIMARY KEY(campaign, second)) WITHOUT ROWID;
INSERT INTO "samples" VALUES('c',30,5,2,1);
COMMIT;
PRAGMA application_id = 1835884902;
PRAGMA user_version = 2;
