package store

import "context"

// Dead is a job that was begun too often, of the newest sweep of its source and shard.
type Dead struct {
	// Sweep is the sweep's number.
	Sweep                     int64
	Source, Key, Version, Job string
	Error                     string
}

// newest holds for the last sweep w of each source and shard.
const newest = "w.id = (SELECT max(v.id) FROM sweeps v WHERE v.source = w.source AND v.shard = w.shard)"

// DeadJobs are the dead jobs of the newest sweeps; source is "" for every source.
func (s *Store) DeadJobs(ctx context.Context, source string) ([]Dead, error) {
	rows, err := s.direct().query(ctx, "SELECT w.id, w.source, j.key, j.version, j.name, r.error FROM jobs j JOIN sweeps w ON w.id = j.sweep JOIN results r ON r.id = j.result WHERE j.how = ? AND (? = '' OR w.source = ?) AND "+newest+" ORDER BY w.id, j.key, j.name",
		HowDead, source, source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // nothing is written by it
	var out []Dead
	for rows.Next() {
		var d Dead
		if err := rows.Scan(&d.Sweep, &d.Source, &d.Key, &d.Version, &d.Job, &d.Error); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

// Requeue queues dead jobs again, and reopens their sweeps: who sweeps next goes on there.
func (s *Store) Requeue(ctx context.Context, list []Dead) error {
	return s.within(ctx, func(tx statements) error {
		for _, d := range list {
			if _, err := tx.exec(ctx, "UPDATE jobs SET how = ?, result = NULL WHERE sweep = ? AND name = ? AND how = ?", HowQueued, d.Sweep, d.Job, HowDead); err != nil {
				return err
			}
			if _, err := tx.exec(ctx, "UPDATE sweeps SET finished = NULL WHERE id = ?", d.Sweep); err != nil {
				return err
			}
		}
		return nil
	})
}
