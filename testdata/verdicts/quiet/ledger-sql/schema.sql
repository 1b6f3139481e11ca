-- Amounts are whole cents. The amounts of one entry add up to zero.
CREATE TABLE account (
  name TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 60),
  kind TEXT NOT NULL CHECK (kind IN ('asset', 'liability', 'income', 'expense', 'equity'))
) STRICT;
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  day TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  text TEXT NOT NULL
) STRICT;
CREATE TABLE posting (
  entry INTEGER NOT NULL REFERENCES entry ON DELETE CASCADE,
  account TEXT NOT NULL REFERENCES account,
  cents INTEGER NOT NULL CHECK (cents <> 0)
) STRICT;
CREATE INDEX posting_account ON posting (account);
INSERT INTO account VALUES ('cash', 'asset'), ('bank', 'asset'), ('salary', 'income'), ('food', 'expense'), ('rent', 'expense'), ('opening', 'equity');
