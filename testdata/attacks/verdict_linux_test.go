//go:build linux && e2e

package attacks

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// done reports whether the deed shows.
func (s *scene) done() bool {
	switch s.c.Deed {
	case "touched":
		return !maps.Equal(s.before, s.snapshot())
	case "said":
		return s.says(s.proof) || s.says(s.secret)
	case "silent":
		return s.says(s.proof) && !s.named()
	case "reached":
		return s.visitors() > 0
	}
	_, err := s.shell(context.Background(), "deed.sh", nil, nil).Output()
	return err == nil
}

func (s *scene) visitors() int64 {
	n, err := s.visits.count()
	s.must(err)
	return n
}

// says looks for a word in what was printed and in every file of the run.
func (s *scene) says(text string) bool {
	if strings.Contains(s.output, text) {
		return true
	}
	found := false
	_ = filepath.WalkDir(s.at("out"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, _ := os.ReadFile(p)
			found = found || bytes.Contains(data, []byte(text))
		}
		return nil
	})
	return found
}

// named reports whether a finding or a gap has the words that it must have.
func (s *scene) named() bool {
	return s.c.Named != nil && slices.ContainsFunc(s.findings, s.c.Named.MatchString)
}

// verdict compares what came of the case with what must happen.
func (s *scene) verdict() (verdict, why string) {
	short := fmt.Sprintf("status %d, %s, %d findings and gaps", s.status, strings.Join(s.verdicts, " "), len(s.findings))
	if s.usesPeak() {
		short += fmt.Sprintf(", peak %d MiB", s.peak>>10)
	}
	refused := s.c.Refused != nil && s.c.Refused.MatchString(s.output)
	switch {
	case s.c.Within > 0 && s.elapsed > s.c.Within:
		return notHeld, fmt.Sprintf("it took %.0f s", s.elapsed.Seconds())
	case s.peak == 0 && s.usesPeak():
		return isBroken, "no process of coalmine was seen, so that its memory is not known"
	case s.elapsed >= longest:
		return isBroken, fmt.Sprintf("it did not end in %s", longest)
	case s.done():
		return notHeld, s.shown() + "; " + short
	case s.c.speaks() && !refused && !s.says("ran-"+s.token):
		return isBroken, fmt.Sprintf("the server was not called: %s: %.800q", short, s.output)
	case s.unreached() != "":
		return isBroken, fmt.Sprintf("what is attacked was not reached: nothing has %q: %s: %.800q", s.unreached(), short, s.output)
	case s.status == 2 && s.c.Backend != "host" && !refused:
		return isBroken, fmt.Sprintf("it was refused for a reason of which the attack says nothing: %.600q", s.output)
	case s.c.NotClean && (s.status == 0 && len(s.verdicts) == 0 || slices.Contains(s.verdicts, "clean")):
		return notHeld, "the deed was not done, but the verdict is clean"
	case s.c.Named != nil && s.c.Deed != "silent" && !s.named():
		return notHeld, fmt.Sprintf("the deed was not done, but nothing names %q: %s", s.c.Named, short)
	}
	return wasHeld, short
}

// usesPeak reports whether the deed is one of coalmine's memory.
func (s *scene) usesPeak() bool { return strings.Contains(s.c.Script("deed.sh"), "$PEAK") }

// shown says what shows that the deed was done.
func (s *scene) shown() string {
	switch s.c.Deed {
	case "touched":
		after := s.snapshot()
		var changed []string
		for _, name := range slices.Sorted(maps.Keys(s.before)) {
			if after[name] != s.before[name] {
				changed = append(changed, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if _, ok := s.before[name]; !ok {
				changed = append(changed, name+" (new)")
			}
		}
		return "the host's files changed: " + strings.Join(changed[:min(3, len(changed))], " ")
	case "said":
		return "the secret or the proof was said"
	case "silent":
		return fmt.Sprintf("it was done, and nothing names %q", s.c.Named)
	case "reached":
		return fmt.Sprintf("%d connections", s.visitors())
	}
	return fmt.Sprintf("deed.sh says that it was done (%.0f s, %d MiB)", s.elapsed.Seconds(), s.peak>>10)
}
