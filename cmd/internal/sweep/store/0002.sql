-- A target is a server across its versions, as one source lists it. Several sources, and
-- several filters of one, can list the same server: each has a row of its own.
ALTER TABLE targets RENAME TO targets_before;
CREATE TABLE targets (
  source  TEXT NOT NULL,             -- as in sweeps
  key     TEXT NOT NULL,             -- "npm:@a/b"
  name    TEXT NOT NULL,             -- what the source calls it
  job     TEXT NOT NULL,             -- JSON: what the source said of it last
  deleted INTEGER NOT NULL DEFAULT 0, -- 1 where the source says that it is gone
  PRIMARY KEY (source, key)
) WITHOUT ROWID;
CREATE INDEX targets_of ON targets (key);
INSERT INTO targets (source, key, name, job, deleted)
  SELECT source, key, name, job, deleted FROM targets_before;
-- The schema before kept one source a server. The jobs know what the others said last.
INSERT INTO targets (source, key, name, job)
  SELECT w.source, j.key, j.job ->> 'name', j.job FROM jobs j JOIN sweeps w ON w.id = j.sweep
  JOIN (SELECT v.source, k.key, max(k.sweep) AS sweep FROM jobs k JOIN sweeps v ON v.id = k.sweep GROUP BY v.source, k.key) latest
    ON latest.key = j.key AND latest.sweep = j.sweep
  WHERE true ON CONFLICT DO NOTHING;
DROP TABLE targets_before;
