package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

// places leads positions to what a report shows. It reads a source again for it.
type places struct {
	a       *auditor
	sources map[string]string
	maps    map[string]*javascript.Map
	// sinks are the places that a way from a tool leads to.
	sinks map[sinkPlace]bool
	// lines are those of files whose code stands within another format.
	lines map[string][]int
	// followed is set where the package has tools, and all ways from them were followed.
	followed bool
}

func (s *places) source(p string) string {
	src, ok := s.sources[p]
	if !ok {
		if data, err := s.a.read(p); err == nil {
			src = string(data)
		}
		s.sources[p] = src
	}
	return src
}

// location is a place with its column in characters.
func (s *places) location(p string, pos lang.Pos) *finding.Location {
	out := &finding.Location{Path: p, Line: max(pos.Line(), 1), Column: max(pos.Column(), 1)}
	if lines := s.lines[p]; lines != nil {
		if out.Line <= len(lines) {
			out.Line = lines[out.Line-1]
		}
		out.Column = 1
		return out
	}
	src := s.source(p)
	if from := pos.Offset() - (pos.Column() - 1); from >= 0 && from <= pos.Offset() && pos.Offset() <= len(src) {
		out.Column = utf8.RuneCountInString(src[from:pos.Offset()]) + 1
	}
	return out
}

// errOutside says that a source map is not read.
var errOutside = errors.New("no source map is read from there")

// mapped is the place that a source map leads to.
func (s *places) mapped(p string, pos lang.Pos) (javascript.Original, bool) {
	switch path.Ext(p) {
	case ".js", ".mjs", ".cjs":
	default:
		return javascript.Original{}, false
	}
	m, ok := s.maps[p]
	if !ok {
		m, _ = javascript.OpenMap([]byte(s.source(p)), func(name string) ([]byte, error) {
			if strings.Contains(name, "..") || path.IsAbs(name) {
				return nil, errOutside
			}
			return s.a.read(path.Join(path.Dir(p), name))
		})
		s.maps[p] = m
	}
	if m == nil {
		return javascript.Original{}, false
	}
	return m.Original(pos)
}

// original is the place that a source map leads to as a text, "" without one.
func (s *places) original(p string, pos lang.Pos) string {
	o, ok := s.mapped(p, pos)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d by its source map", o.File, o.Pos.Line(), o.Pos.Column())
}

// origin is the place of the tree that a source map leads to, nil for none. A map is the server's own: it names a
// place only by a relative path that stays in the tree, and not one of tests or of other people's code,
// where nobody would look. The map holds the text of the file, or the tree has it.
func (s *places) origin(p string, pos lang.Pos) *finding.Location {
	o, ok := s.mapped(p, pos)
	if !ok || o.File == "" || len(o.File) > maxWord || path.IsAbs(o.File) || strings.ContainsAny(o.File, ":\\?#") || text.Printable(o.File, maxWord) != o.File {
		return nil
	}
	name := path.Join(path.Dir(p), o.File)
	if !fs.ValidPath(name) || name == p || isSkipped(name) || isAside(name) || !isCode(name) {
		return nil
	}
	at := &finding.Location{Path: name, Line: o.Pos.Line(), Column: o.Pos.Column()}
	if o.Pos.Offset() >= 0 {
		return at // within the text that the map holds
	}
	if strings.Count(s.source(name), "\n")+1 < at.Line || s.source(name) == "" {
		return nil
	}
	return at
}

// set gives a finding the place of its original, and keeps the one that was read.
func (s *places) set(f *finding.Finding, p string, pos lang.Pos) {
	if at := s.origin(p, pos); at != nil {
		f.Generated, f.Location = f.Location, at
	}
}

// step is a step of a flow as evidence: at its original where that is known, and with the other place as a text.
func (s *places) step(st *taint.Step) finding.Evidence {
	what, at := st.Text, s.location(st.File, st.Start)
	if origin := s.origin(st.File, st.Start); origin != nil {
		what += fmt.Sprintf(" (in the bundle %s:%d:%d)", at.Path, at.Line, at.Column)
		at = origin
	} else if original := s.original(st.File, st.Start); original != "" {
		what += " (" + original + ")"
	}
	return finding.Evidence{Source: "source", Text: text.Printable(what, 2*maxName), Location: at}
}
