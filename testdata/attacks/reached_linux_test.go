//go:build linux && e2e

package attacks

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxEvidence bounds what is read of each file of a run.
const maxEvidence = 8 << 20

// evidence is what shows how far coalmine came, a line each or more: what it printed, the
// requests to the registry as "asked GET /npm/left", and what its files say.
func (s *scene) evidence() []byte {
	var b bytes.Buffer
	b.WriteString(s.output)
	for _, line := range s.web.requests() {
		b.WriteString("\nasked " + line)
	}
	b.WriteByte('\n')
	_ = filepath.WalkDir(s.at("out"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			return nil
		}
		defer func() { _ = f.Close() }()
		b.WriteString("file " + strings.TrimPrefix(p, s.at("out")+"/") + "\n")
		_, _ = io.Copy(&b, io.LimitReader(f, maxEvidence))
		b.WriteByte('\n')
		return nil
	})
	return b.Bytes()
}

// unreached is what the evidence has not, "" where the attacked step was reached.
func (s *scene) unreached() string {
	if len(s.c.Reached) == 0 {
		return ""
	}
	text := s.evidence()
	for _, re := range s.c.Reached {
		if !re.Match(text) {
			return re.String()
		}
	}
	return ""
}

// dud is a coalmine that does nothing: it repeats what it was told and fails.
const dud = "#!/bin/sh\nprintf 'coalmine: cannot: %s\\n' \"$*\" >&2\nexit 2\n"

// proves reports whether the attack's words of what was reached say something: a coalmine that fails at
// once must not have them.
func (s *scene) proves() bool {
	if len(s.c.Reached) == 0 {
		return true
	}
	s.must(os.MkdirAll(s.at("bin"), 0o755))
	s.must(os.WriteFile(s.at("bin/coalmine"), []byte(dud), 0o755))
	s.run(nil)
	return s.unreached() != ""
}
