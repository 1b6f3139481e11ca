package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// AsOf is the moment whose dependencies a package gets. The zero value is now.
type AsOf struct {
	// Release is that of the package's own version.
	Release bool
	// Time is another one, the zero Time for none.
	Time time.Time
}

// The words of --as-of that are no date.
const (
	AsOfToday   = "today"
	AsOfRelease = "release"
)

// ParseAsOf reads "today", "release", a date or a time of RFC 3339. A date means its end.
func ParseAsOf(s string) (AsOf, error) {
	switch s {
	case "", AsOfToday:
		return AsOf{}, nil
	case AsOfRelease:
		return AsOf{Release: true}, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return AsOf{Time: t.Add(24*time.Hour - time.Second)}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return AsOf{}, withHint("give a date such as 2025-03-31, release or today", "%.60q is no moment for --as-of", s)
	}
	return AsOf{Time: t.UTC()}, nil
}

// IsNow says that dependencies are as they are now.
func (a AsOf) IsNow() bool { return !a.Release && a.Time.IsZero() }

// afterRelease is how much later than a package's own archives its dependencies may come:
// packages of one project are released one after the other.
const afterRelease = 24 * time.Hour

// uploads are the moments at which the files of an index came.
type uploads struct {
	mu sync.Mutex
	at map[string]time.Time
}

// maxUploads bounds the files whose moments are kept.
const maxUploads = 100_000

func (u *uploads) add(file string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[string]time.Time{}
	}
	if len(u.at) < maxUploads {
		u.at[file] = at
	}
}

// latest is when the last file of a version came, the zero Time where none is known.
func (u *uploads) latest(name, version string) (last time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for file, at := range u.at {
		if n, v := ArchiveOf(file); normalized(n) == normalized(name) && v == version && at.After(last) {
			last = at
		}
	}
	return last
}

// ArchiveOf reads the name and the version out of an archive's name: of a wheel (PEP 427), or of
// a source distribution (PEP 625). Both are "" for another file.
func ArchiveOf(file string) (name, version string) {
	if rest, ok := strings.CutSuffix(file, ".whl"); ok {
		if parts := strings.Split(rest, "-"); len(parts) >= 5 {
			return parts[0], parts[1]
		}
		return "", ""
	}
	for _, end := range []string{".tar.gz", ".zip", ".tar.bz2"} {
		if rest, ok := strings.CutSuffix(file, end); ok {
			if at := strings.LastIndexByte(rest, '-'); at > 0 {
				return rest[:at], rest[at+1:]
			}
		}
	}
	return "", ""
}

// settlePyPI finds out the moment whose dependencies a package of PyPI's gets.
func (f *Fetcher) settlePyPI(ctx context.Context, s Spec, py *Python) error {
	if f.before = f.AsOf.Time; !f.AsOf.Release {
		return nil
	}
	p, err := f.findPip(ctx, py)
	if err != nil {
		return err
	}
	f.progress("asking when " + s.String() + " was released")
	seen := &uploads{}
	p.dated = seen.add
	wheels, err := p.resolve(ctx, s.String(), []string{s.wanted()}, "--no-deps")
	var source *noWheelError
	switch version := s.Version; {
	case errors.As(err, &source) && version != "":
		f.before = seen.latest(s.Name, version)
	case err != nil:
		return err
	case len(wheels) == 1:
		f.before = seen.latest(wheels[0].name, wheels[0].version)
	}
	return f.settled(s)
}

// settleNPM is settlePyPI for npm.
func (f *Fetcher) settleNPM(ctx context.Context, s Spec) error {
	if f.before = f.AsOf.Time; !f.AsOf.Release {
		return nil
	}
	f.progress("asking when " + s.String() + " was released")
	var out []byte
	if err := f.npm(ctx, viewNPM, nil, into(&out, maxLock), "view", "--json", "--", s.wanted(), "version", "time"); err != nil {
		return npmError(s.String(), err)
	}
	f.before = npmReleased(out)
	return f.settled(s)
}

// npmReleased reads what npm view says of a version, or of several: the last one counts.
func npmReleased(out []byte) time.Time {
	type viewed struct {
		Version string
		Time    map[string]time.Time
	}
	var all []viewed
	if json.Unmarshal(out, &all) != nil {
		all = make([]viewed, 1)
		if json.Unmarshal(out, &all[0]) != nil {
			return time.Time{}
		}
	}
	if len(all) == 0 {
		return time.Time{}
	}
	last := all[len(all)-1]
	return last.Time[last.Version]
}

// settled adds what may come after a release, or says that it is not known.
func (f *Fetcher) settled(s Spec) error {
	if f.before.IsZero() {
		return withHint("name a date: --as-of 2025-03-31", "%s: its registry does not say when it was released", s)
	}
	f.before = f.before.Add(afterRelease).UTC().Truncate(time.Second)
	return nil
}

// Before is the moment up to which dependencies were taken, the zero Time for now.
func (f *Fetcher) Before() time.Time { return f.before }

// beforeNPM are npm's words for the moment up to which it takes dependencies.
func (f *Fetcher) beforeNPM() []string {
	if f.before.IsZero() {
		return nil
	}
	return []string{fmt.Sprintf("--before=%s", f.before.Format(time.RFC3339))}
}
