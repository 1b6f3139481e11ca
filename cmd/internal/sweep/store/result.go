package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Result is one judgement of one run.
type Result struct {
	ID                            int64
	Key, Version, Digest, Package string
	Rules, Settings               string
	Verdict                       string
	Status                        int
	Error                         string
	Ran, Judged                   time.Time
	Seconds                       float64
	Dir                           string
	Findings                      []Finding
	// Behaviours are what the server did, each once, in order; nil where that is not known.
	Behaviours []string
}

// VerdictError is the verdict of a job without a run.
const VerdictError = "error"

// Finding is what is kept of one.
type Finding struct {
	Rule        string `json:"rule"`
	Severity    string `json:"severity"`
	Tool        string `json:"tool,omitempty"`
	Title       string `json:"title"`
	Message     string `json:"message"`
	Fingerprint string `json:"fingerprint"`
}

const resultColumns = "r.id, r.key, r.version, r.digest, r.package, r.rules, r.settings, r.verdict, r.status, r.error, r.ran, r.judged, r.seconds, r.dir"

func scanResult(row interface{ Scan(...any) error }, more ...any) (*Result, error) {
	var r Result
	var ran, judged string
	err := row.Scan(append([]any{&r.ID, &r.Key, &r.Version, &r.Digest, &r.Package, &r.Rules, &r.Settings, &r.Verdict, &r.Status, &r.Error, &ran, &judged, &r.Seconds, &r.Dir}, more...)...)
	if err != nil {
		return nil, err
	}
	r.Ran, _ = time.Parse(time.RFC3339, ran)
	r.Judged, _ = time.Parse(time.RFC3339, judged)
	return &r, nil
}

// Last is the last result of a target at a version and a digest, without its findings; nil
// for none.
func (s *Store) Last(ctx context.Context, key, version, digest string) (*Result, error) {
	r, err := scanResult(s.direct().row(ctx, "SELECT "+resultColumns+" FROM results r WHERE r.key = ? AND r.version = ? AND r.digest = ? ORDER BY r.id DESC LIMIT 1", key, version, digest))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r, err
}

// OtherPackage is when a target last ran at a version whose archive was another one, the
// zero time for never.
func (s *Store) OtherPackage(ctx context.Context, key, version, archive string) (time.Time, error) {
	var ran string
	err := s.direct().row(ctx, "SELECT coalesce(max(ran), '') FROM results WHERE key = ? AND version = ? AND package NOT IN ('', ?)", key, version, archive).Scan(&ran)
	at, _ := time.Parse(time.RFC3339, ran)
	return at, err
}

// Record keeps the result of a job of a sweep. A job that has one keeps it: recorded is
// false then.
func (s *Store) Record(ctx context.Context, sweep int64, job, how string, r *Result) (recorded bool, err error) {
	err = s.within(ctx, func(tx statements) error {
		// Who changes the job has it, where two processes come at once.
		in, err := tx.exec(ctx, "UPDATE jobs SET how = ? WHERE sweep = ? AND name = ? AND how = ?", how, sweep, job, HowQueued)
		if err != nil {
			return err
		}
		if n, err := in.RowsAffected(); err != nil || n == 0 {
			return err
		}
		err = tx.row(ctx, "INSERT INTO results (key, version, digest, package, rules, settings, verdict, status, error, ran, judged, seconds, dir) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING id",
			r.Key, r.Version, r.Digest, r.Package, r.Rules, r.Settings, r.Verdict, r.Status, plain(r.Error), r.Ran.UTC().Format(time.RFC3339), r.Judged.UTC().Format(time.RFC3339), r.Seconds, r.Dir).Scan(&r.ID)
		if err != nil {
			return err
		}
		for _, f := range r.Findings {
			if _, err := tx.exec(ctx, "INSERT INTO findings (result, rule, severity, tool, title, message, fingerprint) VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING", r.ID, f.Rule, f.Severity, plain(f.Tool), plain(f.Title), plain(f.Message), f.Fingerprint); err != nil {
				return err
			}
		}
		if r.Behaviours != nil {
			list, err := json.Marshal(r.Behaviours)
			if err != nil {
				return err
			}
			if _, err := tx.exec(ctx, "INSERT INTO behaviours (result, list) VALUES (?,?)", r.ID, plain(string(list))); err != nil {
				return err
			}
		}
		recorded = true
		_, err = tx.exec(ctx, "UPDATE jobs SET result = ? WHERE sweep = ? AND name = ?", r.ID, sweep, job)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("keep the result of a job: %w", err)
	}
	return recorded, nil
}

// Skip says of jobs that the results of an earlier sweep hold, in one transaction.
func (s *Store) Skip(ctx context.Context, sweep int64, results map[string]int64) error {
	return s.within(ctx, func(tx statements) error {
		for job, result := range results {
			if _, err := tx.exec(ctx, "UPDATE jobs SET how = ?, result = ? WHERE sweep = ? AND name = ? AND how = ?", HowSkipped, result, sweep, job, HowQueued); err != nil {
				return err
			}
		}
		return nil
	})
}

// Entry is a result of a sweep, with what was done about it.
type Entry struct {
	Result
	Name string
	How  string
}

// Entries are the results of a sweep with their findings, by key.
func (s *Store) Entries(ctx context.Context, sweep int64) ([]Entry, error) {
	return s.entries(ctx, "SELECT "+resultColumns+", t.name, j.how FROM jobs j JOIN results r ON r.id = j.result JOIN sweeps w ON w.id = j.sweep JOIN targets t ON t.source = w.source AND t.key = j.key WHERE j.sweep = ? ORDER BY r.key, r.id, j.name", sweep)
}

// anyName is what one of its sources calls a result's target.
const anyName = "coalesce((SELECT min(t.name) FROM targets t WHERE t.key = r.key), r.key)"

// History are all results of a target, the newest first.
func (s *Store) History(ctx context.Context, key string) ([]Entry, error) {
	return s.entries(ctx, "SELECT "+resultColumns+", "+anyName+", '' FROM results r WHERE r.key = ? ORDER BY r.id DESC", key)
}

// OfVersion is the last result of a target at a version; nil for none.
func (s *Store) OfVersion(ctx context.Context, key, version string) (*Entry, error) {
	list, err := s.entries(ctx, "SELECT "+resultColumns+", "+anyName+", '' FROM results r WHERE r.key = ? AND r.version = ? ORDER BY r.id DESC LIMIT 1", key, version)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (s *Store) entries(ctx context.Context, query string, args ...any) ([]Entry, error) {
	rows, err := s.direct().query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	var out []Entry
	at := map[int64]int{}
	for rows.Next() {
		var e Entry
		r, err := scanResult(rows, &e.Name, &e.How)
		if err != nil {
			return nil, err
		}
		e.Result = *r
		at[r.ID] = len(out)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	// Some hundred results a question: SQLite bounds a statement's parameters.
	for from := 0; from < len(out); from += 500 {
		part := out[from:min(from+500, len(out))]
		if err := errors.Join(s.findings(ctx, part), s.behaviours(ctx, part)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// behaviours reads what the servers of some results did.
func (s *Store) behaviours(ctx context.Context, list []Entry) error {
	var text string
	return s.ofResults(ctx, list, "SELECT result, list FROM behaviours", "", []any{&text}, func(entries []*Entry) error {
		did := []string{}
		if err := json.Unmarshal([]byte(text), &did); err != nil {
			return fmt.Errorf("read the behaviours of result %d: %w", entries[0].ID, err)
		}
		for _, e := range entries {
			e.Behaviours = did
		}
		return nil
	})
}

// findings reads the findings of some results.
func (s *Store) findings(ctx context.Context, list []Entry) error {
	var f Finding
	return s.ofResults(ctx, list, "SELECT result, rule, severity, tool, title, message, fingerprint FROM findings", "ORDER BY result, rule, fingerprint",
		[]any{&f.Rule, &f.Severity, &f.Tool, &f.Title, &f.Message, &f.Fingerprint}, func(entries []*Entry) error {
			for _, e := range entries {
				e.Findings = append(e.Findings, f)
			}
			return nil
		})
}

// ofResults reads the rows of some results, of which the first column is the result. It sets the
// other columns and then says whose they are.
func (s *Store) ofResults(ctx context.Context, list []Entry, query, order string, columns []any, row func([]*Entry) error) error {
	entries := map[int64][]*Entry{}
	var ids []any
	for i := range list {
		if entries[list[i].ID] == nil {
			ids = append(ids, list[i].ID)
		}
		entries[list[i].ID] = append(entries[list[i].ID], &list[i])
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := s.direct().query(ctx, query+" WHERE result IN (?"+strings.Repeat(",?", len(ids)-1)+") "+order, ids...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	var id int64
	columns = append([]any{&id}, columns...)
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		if err := row(entries[id]); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Sweeps are all sweeps, the newest first.
func (s *Store) Sweeps(ctx context.Context) ([]Sweep, error) {
	rows, err := s.direct().query(ctx, "SELECT "+sweepColumns+" FROM sweeps ORDER BY id DESC")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	var out []Sweep
	for rows.Next() {
		w, err := scanSweep(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, *w)
	}
	return out, rows.Err()
}
