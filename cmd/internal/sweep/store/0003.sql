-- What a server did in a run, so that two results can be compared in it. A result without a row
-- is older than this table.
CREATE TABLE behaviours (
  result INTEGER NOT NULL REFERENCES results (id) ON DELETE CASCADE, -- whose it is
  list   TEXT NOT NULL,              -- JSON: each behaviour once, in order, such as "runs curl"
  PRIMARY KEY (result)
) WITHOUT ROWID;
