package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// Round is one way through the whole list of a source: a finished sweep of each shard.
type Round struct {
	Source string
	// Sweeps are in the order of their shards.
	Sweeps []store.Sweep
	// Notes say what of the source is not in it.
	Notes []string
}

// newest is the sweep of the round that began last.
func (r *Round) newest() *store.Sweep {
	w := slices.MaxFunc(r.Sweeps, func(a, b store.Sweep) int { return cmp.Compare(a.ID, b.ID) })
	return &w
}

// Entries are the results of all shards with their findings, by key.
func (r *Round) Entries(ctx context.Context, s *store.Store) ([]store.Entry, error) {
	var out []store.Entry
	for _, w := range r.Sweeps {
		list, err := s.Entries(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortStableFunc(out, func(a, b store.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}

// Rounds are those of a source, the newest first; "" is the source of the last finished
// sweep. sweeps are the newest first, as a store gives them.
func Rounds(sweeps []store.Sweep, source string) ([]Round, error) {
	if len(sweeps) == 0 {
		return nil, errors.New("no sweep is kept here yet")
	}
	var of []store.Sweep
	var others []string
	for i, w := range sweeps {
		if source == "" && (!w.Finished.IsZero() || i == len(sweeps)-1) {
			source = w.Source
		}
	}
	for _, w := range sweeps {
		if w.Source == source {
			of = append(of, w)
		} else if !slices.Contains(others, w.Source) {
			others = append(others, w.Source)
		}
	}
	if len(of) == 0 {
		return nil, fmt.Errorf("no sweep of %s is kept here, but of %s", source, some(others))
	}
	rounds := joined(of)
	if len(rounds) == 0 {
		return nil, fmt.Errorf("no sweep of %s is finished yet: the same coalmine sweep goes on with it", source)
	}
	for i := range rounds {
		rounds[i].Source = source
	}
	rounds[0].Notes = notes(&rounds[0], of)
	if len(others) > 0 {
		rounds[0].Notes = append(rounds[0].Notes, "sweeps of other sources are kept here, too: "+some(others))
	}
	return rounds, nil
}

// some names a few texts.
func some(list []string) string {
	const most = 10
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// joined makes rounds of the sweeps of one source: the last finished sweep of each shard,
// the one before it of each, and so on. One that lacks a shard that was begun is taken only
// where there is no other.
func joined(of []store.Sweep) []Round {
	groups := map[string]map[string][]store.Sweep{} // by the number of shards, and by shard
	for _, w := range of {
		_, shards, _ := strings.Cut(w.Shard, "/")
		if groups[shards] == nil {
			groups[shards] = map[string][]store.Sweep{}
		}
		list := groups[shards][w.Shard]
		if !w.Finished.IsZero() {
			list = append(list, w)
		}
		groups[shards][w.Shard] = list
	}
	var whole, partial []Round
	for _, group := range groups {
		deepest, least := 0, len(of)
		for _, list := range group {
			deepest, least = max(deepest, len(list)), min(least, len(list))
		}
		for i := range least {
			whole = append(whole, round(group, i))
		}
		if least == 0 && deepest > 0 {
			partial = append(partial, round(group, 0))
		}
	}
	newestFirst := func(a, b Round) int { return cmp.Compare(b.newest().ID, a.newest().ID) }
	slices.SortFunc(whole, newestFirst)
	slices.SortFunc(partial, newestFirst)
	if len(whole) > 0 || len(partial) == 0 {
		return whole
	}
	return partial[:1]
}

// round takes the sweep at a place of each shard that has one there.
func round(group map[string][]store.Sweep, at int) (r Round) {
	for _, list := range group {
		if at < len(list) {
			r.Sweeps = append(r.Sweeps, list[at])
		}
	}
	slices.SortFunc(r.Sweeps, func(a, b store.Sweep) int {
		return cmp.Or(cmp.Compare(len(a.Shard), len(b.Shard)), cmp.Compare(a.Shard, b.Shard))
	})
	return r
}

// notes say which newer sweeps of the source are not finished, and which shards are not here.
func notes(r *Round, of []store.Sweep) []string {
	shown := map[string]int64{}
	for _, w := range r.Sweeps {
		shown[w.Shard] = w.ID
	}
	_, shards, _ := strings.Cut(r.Sweeps[0].Shard, "/")
	var out []string
	for _, w := range of {
		after, ok := shown[w.Shard]
		if _, n, _ := strings.Cut(w.Shard, "/"); !ok && n != shards {
			after = r.newest().ID
		}
		if !w.Finished.IsZero() || w.ID < after {
			continue
		}
		shown[w.Shard] = w.ID // of several, the last one says it
		part := ""
		if w.Shard != "" {
			part = ", shard " + w.Shard
		}
		out = append(out, fmt.Sprintf("sweep %d%s, begun %s UTC, is not finished and not shown", w.ID, part, w.Started.UTC().Format("2006-01-02 15:04")))
	}
	if shards != "" && shards != fmt.Sprint(len(r.Sweeps)) {
		out = append(out, fmt.Sprintf("%d of %s shards are shown: the others have no finished sweep here", len(r.Sweeps), shards))
	}
	return out
}
