-- A sweep is one way through a list of servers.
CREATE TABLE sweeps (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,   -- in the queue
  source     TEXT NOT NULL,          -- the registry's address, npm:KEYWORD, or a file
  rules      TEXT NOT NULL,          -- digest of all that a judgement depends on
  settings   TEXT NOT NULL,          -- digest of all that a run depends on beside its target
  shard      TEXT NOT NULL DEFAULT '',
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
  id       INTEGER PRIMARY KEY,
  key      TEXT NOT NULL,
  version  TEXT NOT NULL,
  digest   TEXT NOT NULL,            -- of what the list said
  package  TEXT NOT NULL DEFAULT '', -- hash of the package's own archive, as it was fetched
  rules    TEXT NOT NULL,
  settings TEXT NOT NULL,
  verdict  TEXT NOT NULL,            -- clean, findings, inconclusive or error
  status   INTEGER NOT NULL,         -- the exit status that a probe would have
  error    TEXT NOT NULL DEFAULT '',
  ran      TEXT NOT NULL,            -- when the run began
  judged   TEXT NOT NULL,
  seconds  REAL NOT NULL DEFAULT 0,  -- what the run took
  dir      TEXT NOT NULL DEFAULT ''  -- the run directory below the store
);
CREATE INDEX results_of ON results (key, version, digest, id);
CREATE TABLE findings (
  result      INTEGER NOT NULL REFERENCES results (id) ON DELETE CASCADE,
  rule        TEXT NOT NULL,
  severity    TEXT NOT NULL,
  tool        TEXT NOT NULL,
  title       TEXT NOT NULL,
  message     TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  PRIMARY KEY (result, fingerprint)
) WITHOUT ROWID;
CREATE INDEX findings_by_rule ON findings (rule);
-- A job is what one sweep did about one target.
CREATE TABLE jobs (
  sweep   INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
  name    TEXT NOT NULL,             -- in the queue: the digest of key and target
  key     TEXT NOT NULL,
  version TEXT NOT NULL,
  job     TEXT NOT NULL,
  how     TEXT NOT NULL,             -- queued, run, judged, skipped or failed
  result  INTEGER REFERENCES results (id),
  PRIMARY KEY (sweep, name)
) WITHOUT ROWID;
CREATE INDEX jobs_of ON jobs (key, sweep);
