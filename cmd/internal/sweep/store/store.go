package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
)

// Sweep is one way through a list.
type Sweep struct {
	ID                                   int64
	Name, Source, Rules, Settings, Shard string
	Started                              time.Time
	// Finished is the zero time while the sweep can be resumed.
	Finished   time.Time
	Incomplete string
	Refused    []string
}

const sweepColumns = "id, name, source, rules, settings, shard, started, coalesce(finished, ''), incomplete, refused"

func scanSweep(row interface{ Scan(...any) error }) (*Sweep, error) {
	var w Sweep
	var started, finished, refused string
	if err := row.Scan(&w.ID, &w.Name, &w.Source, &w.Rules, &w.Settings, &w.Shard, &started, &finished, &w.Incomplete, &refused); err != nil {
		return nil, err
	}
	w.Started, _ = time.Parse(time.RFC3339, started)
	w.Finished, _ = time.Parse(time.RFC3339, finished)
	return &w, json.Unmarshal([]byte(refused), &w.Refused)
}

// Unfinished is the last sweep of a source and a shard, where it has the same rules and settings and did
// not come to its end; nil for none.
func (s *Store) Unfinished(ctx context.Context, like Sweep) (*Sweep, error) {
	row := s.direct().row(ctx, "SELECT "+sweepColumns+" FROM sweeps WHERE finished IS NULL AND source = ? AND rules = ? AND settings = ? AND shard = ? AND id = (SELECT max(id) FROM sweeps WHERE source = ? AND shard = ?)",
		like.Source, like.Rules, like.Settings, like.Shard, like.Source, like.Shard)
	w, err := scanSweep(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return w, err
}

// LastListed is when the last sweep of a source began that listed it to its end, the zero
// time for never.
func (s *Store) LastListed(ctx context.Context, source, shard string) (time.Time, error) {
	var started string
	err := s.direct().row(ctx, "SELECT coalesce(max(started), '') FROM sweeps WHERE source = ? AND shard = ? AND incomplete = '' AND finished IS NOT NULL", source, shard).Scan(&started)
	at, _ := time.Parse(time.RFC3339, started)
	return at, err
}

// Targets are those of a source that are not deleted, as the list said last.
func (s *Store) Targets(ctx context.Context, source string) ([]listing.Target, error) {
	rows, err := s.direct().query(ctx, "SELECT job FROM targets WHERE source = ? AND deleted = 0 ORDER BY key", source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	var out []listing.Target
	for rows.Next() {
		var text string
		var t listing.Target
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// Job is what one sweep does about one target.
type Job struct {
	Name   string
	Target listing.Target
	// How is HowQueued until there is a result.
	How string
}

// What a sweep did about a job.
const (
	HowQueued  = "queued"
	HowRun     = "run"
	HowJudged  = "judged"
	HowSkipped = "skipped"
	HowFailed  = "failed"
	// HowDead is a failed job that was begun too often; Requeue gives it another chance.
	HowDead = "dead"
)

// Begin keeps a new sweep with its jobs, and what the list said.
func (s *Store) Begin(ctx context.Context, w *Sweep, jobs []Job, deleted []string) error {
	refused, err := json.Marshal(append([]string{}, w.Refused...))
	if err != nil {
		return err
	}
	return s.within(ctx, func(tx statements) error {
		err := tx.row(ctx, "INSERT INTO sweeps (name, source, rules, settings, shard, started, incomplete, refused) VALUES (?,?,?,?,?,?,?,?) RETURNING id",
			w.Name, w.Source, w.Rules, w.Settings, w.Shard, w.Started.UTC().Format(time.RFC3339), plain(w.Incomplete), plain(string(refused))).Scan(&w.ID)
		if err != nil {
			return err
		}
		for _, name := range deleted {
			if _, err := tx.exec(ctx, "UPDATE targets SET deleted = 1 WHERE source = ? AND (name = ? OR name LIKE ? ESCAPE '\\')", w.Source, name, likePrefix(name)); err != nil {
				return err
			}
		}
		return addJobs(ctx, tx, w, jobs)
	})
}

func addJobs(ctx context.Context, tx statements, w *Sweep, jobs []Job) error {
	target, err := tx.prepare(ctx, "INSERT INTO targets (key, name, source, job) VALUES (?,?,?,?) ON CONFLICT (source, key) DO UPDATE SET name = excluded.name, job = excluded.job, deleted = 0")
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }() // nothing is written by it
	job, err := tx.prepare(ctx, "INSERT INTO jobs (sweep, name, key, version, job, how) VALUES (?,?,?,?,?,?) ON CONFLICT DO NOTHING")
	if err != nil {
		return err
	}
	defer func() { _ = job.Close() }() // nothing is written by it
	for _, j := range jobs {
		text, err := json.Marshal(j.Target)
		if err != nil {
			return err
		}
		if _, err := target.ExecContext(ctx, j.Target.Key, j.Target.Name, w.Source, string(text)); err != nil {
			return err
		}
		if _, err := job.ExecContext(ctx, w.ID, j.Name, j.Target.Key, j.Target.Version, string(text), HowQueued); err != nil {
			return err
		}
	}
	return nil
}

// likePrefix matches names of several packages of one entry: "name#p2".
func likePrefix(name string) string {
	out := ""
	for _, r := range name {
		if r == '%' || r == '_' || r == '\\' {
			out += `\`
		}
		out += string(r)
	}
	return out + "#%"
}

// Queued are the jobs of a sweep that have no result.
func (s *Store) Queued(ctx context.Context, sweep int64) ([]Job, error) {
	rows, err := s.direct().query(ctx, "SELECT name, job FROM jobs WHERE sweep = ? AND how = ? ORDER BY name", sweep, HowQueued)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	var out []Job
	for rows.Next() {
		var text string
		j := Job{How: HowQueued}
		if err := rows.Scan(&j.Name, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &j.Target); err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, rows.Err()
}

// Counts are the jobs of a sweep by what was done about them.
func (s *Store) Counts(ctx context.Context, sweep int64) (map[string]int, error) {
	return s.count(ctx, "SELECT how, count(*) FROM jobs WHERE sweep = ? GROUP BY how", sweep)
}

// Verdicts are the results of a sweep by their verdict.
func (s *Store) Verdicts(ctx context.Context, sweep int64) (map[string]int, error) {
	return s.count(ctx, "SELECT r.verdict, count(*) FROM jobs j JOIN results r ON r.id = j.result WHERE j.sweep = ? GROUP BY r.verdict", sweep)
}

func (s *Store) count(ctx context.Context, query string, args ...any) (map[string]int, error) {
	rows, err := s.direct().query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	out := map[string]int{}
	for rows.Next() {
		var what string
		var n int
		if err := rows.Scan(&what, &n); err != nil {
			return nil, err
		}
		out[what] = n
	}
	return out, rows.Err()
}

// Finish ends a sweep that has all its results.
func (s *Store) Finish(ctx context.Context, sweep int64, at time.Time) error {
	_, err := s.direct().exec(ctx, "UPDATE sweeps SET finished = ? WHERE id = ?", at.UTC().Format(time.RFC3339), sweep)
	return err
}
