-- A sweep is one way through a list of servers.
CREATE TABLE sweeps (
  id         INTEGER PRIMARY KEY,    -- its number, as the commands show it
  name       TEXT NOT NULL UNIQUE,   -- in the queue
  source     TEXT NOT NULL,          -- the registry's address, npm:KEYWORD, or a file
  rules      TEXT NOT NULL,          -- digest of all that a judgement depends on
  settings   TEXT NOT NULL,          -- digest of all that a run depends on beside its target
  shard      TEXT NOT NULL DEFAULT '',-- such as 1/4; empty for the whole list
  started    TEXT NOT NULL,          -- RFC 3339, as all times
  finished   TEXT,                   -- NULL while it can be resumed
  incomplete TEXT NOT NULL DEFAULT '',-- why the list ends early
  refused    TEXT NOT NULL DEFAULT '[]' -- JSON: entries that were not taken, and why
);
-- A target is a server across its versions.
CREATE TABLE targets (
  key     TEXT PRIMARY KEY,          -- "npm:@a/b"
  name    TEXT NOT NULL,
  source  TEXT NOT NULL,
  job     TEXT NOT NULL,             -- JSON: what the list said of it last
  deleted INTEGER NOT NULL DEFAULT 0
);
-- A result is one judgement of one run.
CREATE TABLE results (
  id       INTEGER PRIMARY KEY,      -- later results have higher numbers
  key      TEXT NOT NULL,            -- of the target
  version  TEXT NOT NULL,            -- of the target; empty where the list names none
  digest   TEXT NOT NULL,            -- of what the list said
  package  TEXT NOT NULL DEFAULT '', -- hash of the package's own archive, as it was fetched
  rules    TEXT NOT NULL,            -- as in sweeps
  settings TEXT NOT NULL,            -- as in sweeps
  verdict  TEXT NOT NULL,            -- clean, findings, inconclusive or error
  status   INTEGER NOT NULL,         -- the exit status that a probe would have
  error    TEXT NOT NULL DEFAULT '', -- why there is no run, or what is wrong with it
  ran      TEXT NOT NULL,            -- when the run began
  judged   TEXT NOT NULL,            -- when the verdict was made
  seconds  REAL NOT NULL DEFAULT 0,  -- what the run took
  dir      TEXT NOT NULL DEFAULT ''  -- the run directory below the store
);
CREATE INDEX results_of ON results (key, version, digest, id);
-- A finding is one of a result.
CREATE TABLE findings (
  result      INTEGER NOT NULL REFERENCES results (id) ON DELETE CASCADE, -- whose it is
  rule        TEXT NOT NULL,         -- its ID, such as CM101
  severity    TEXT NOT NULL,         -- critical, high, medium, low or info
  tool        TEXT NOT NULL,         -- empty where it belongs to no tool
  title       TEXT NOT NULL,         -- in a few words
  message     TEXT NOT NULL,         -- in a sentence
  fingerprint TEXT NOT NULL,         -- equal for the same finding in other sweeps
  PRIMARY KEY (result, fingerprint)
) WITHOUT ROWID;
CREATE INDEX findings_by_rule ON findings (rule);
-- A job is what one sweep did about one target.
CREATE TABLE jobs (
  sweep   INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE, -- whose it is
  name    TEXT NOT NULL,             -- in the queue: the digest of key and target
  key     TEXT NOT NULL,             -- of the target
  version TEXT NOT NULL,             -- of the target
  job     TEXT NOT NULL,             -- JSON: the target, as the list said it
  how     TEXT NOT NULL,             -- queued, run, judged, skipped, failed or dead
  result  INTEGER REFERENCES results (id), -- NULL while it is queued
  PRIMARY KEY (sweep, name)
) WITHOUT ROWID;
CREATE INDEX jobs_of ON jobs (key, sweep);
