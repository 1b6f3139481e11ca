package rules

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

// fileWords are words by which a tool without a path among its arguments says
// that it works on the files of its directory.
var fileWords = []string{"file", "files", "directory", "directories", "folder", "folders", "workspace", "project", "codebase", "repository", "repo", "code"}

// inWorkspace reports whether a decoy lies about in a directory that the server works in.
func (r *Run) inWorkspace(c canaries.Canary) bool {
	return c.Path != "" && slices.Contains(r.Workspaces, path.Dir(c.Path))
}

// isLookup reports whether honest libraries and programs open such a file by themselves:
// outside calls the .env of the working directory, or one that a search upwards found, and some in HOME.
func (r *Run) isLookup(e *finding.Effect, c canaries.Canary) bool {
	l, known := lookups[c.Kind]
	switch {
	case e.Call == 0 && (e.Climbed && path.Base(c.Path) == ".env" || r.inWorkspace(c)):
		return true
	case !known, len(l.words) > 0 && !r.shown(e.Tool, l.words):
		return false
	case e.Call == 0 && l.atStart && r.asksHost(l.asks), slices.Contains(l.programs, e.Actor):
		return true
	}
	return l.overHTTP && r.requests(e)
}

// requests reports whether the call of an effect made an HTTP request, or looked a name up and got no further: what it
// was to ask, nobody saw. Work in the background may go on in a neighbour of the call.
func (r *Run) requests(e *finding.Effect) bool {
	tried, spoke := false, false
	for i := range r.Profile.Effects {
		n := &r.Profile.Effects[i]
		beside := e.Ambiguous && (n.Phase == finding.PhaseIdle || n.Call > 0 && (n.Call == e.Call-1 || n.Call == e.Call+1))
		if n.Call != e.Call && !beside || !leaving(n) {
			continue
		}
		switch n.Via {
		case "http", "https", "h2":
			return true
		}
		if _, named := askedName(n); named || n.Target == "dns" {
			tried = true
		} else if n.Via != "" {
			spoke = true
		}
	}
	return tried && !spoke
}

// asksHost reports whether the server tried to reach a host with a part in its name, "" for any or none.
func (r *Run) asksHost(part string) bool {
	return part == "" || slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool {
		return e.Kind == finding.NetConnect && (strings.Contains(e.Host, part) || strings.Contains(e.Target, part))
	})
}

// wasAsked reports whether a call asked for a decoy's file: its arguments name
// it, or a directory of the workspace that holds it, or the tool works on the
// workspace's files and they name none.
func (r *Run) wasAsked(e *finding.Effect, c canaries.Canary) bool {
	if r.asked(e.Call, c.Path) || r.asked(e.Call, host(c.URL)) {
		return true
	}
	if e.Call == 0 || !r.inWorkspace(c) {
		return false
	}
	t := r.Scope.Tool(e.Tool)
	onFiles := len(t.Paths) > 0 || slices.ContainsFunc(fileWords, t.Says)
	var args map[string]any
	if json.Unmarshal(r.Args[e.Call], &args) != nil {
		args = nil
	}
	named := false
	for name, value := range args {
		for _, text := range texts(value, nil) {
			if r.holds(text, c.Path) || onFiles && r.standsFor(text, e.Call, c.Path) {
				return true
			}
			named = named || text != "" && !isGlobOf(text, c.Path) && slices.ContainsFunc(t.Paths, func(p string) bool { return p == name || strings.HasPrefix(p, name+".") })
		}
	}
	return !named && onFiles
}

// isGlobOf reports whether a text is a pattern for names of files, and matches that of a file.
func isGlobOf(text, file string) bool {
	if !strings.ContainsAny(text, "*?") {
		return false
	}
	matches, err := path.Match(text[strings.LastIndexByte(text, '/')+1:], path.Base(file))
	return err == nil && matches
}

// standing is a directory of a workspace that a call named beside a text.
type standing struct {
	call int
	dir  string
}

// The bounds of what is remembered: texts, and directories beside each.
const maxStanding, maxStandingDirs = 10_000, 16

// standsFor reports whether a text stood in an earlier call's arguments beside a directory that holds a file: a project
// that was registered with its directory is meant by its name.
func (r *Run) standsFor(text string, call int, file string) bool {
	return slices.ContainsFunc(r.remembered().standings(r)[text], func(s standing) bool { return s.call < call && r.holds(s.dir, file) })
}

// standings are the directories of workspaces that calls named, by the short texts beside each.
func (m *memory) standings(r *Run) map[string][]standing {
	if m.standing != nil {
		return m.standing
	}
	m.standing = map[string][]standing{}
	for _, call := range slices.Sorted(maps.Keys(r.Args)) {
		list := m.argTexts(r, call)
		for _, dir := range list {
			if !path.IsAbs(dir) || !slices.ContainsFunc(r.Workspaces, func(w string) bool { return within(path.Clean(dir), w) }) {
				continue
			}
			for _, text := range list {
				if !isWord(text) || len(m.standing) >= maxStanding || len(m.standing[text]) >= maxStandingDirs {
					continue
				}
				m.standing[text] = append(m.standing[text], standing{call, dir})
			}
		}
	}
	return m.standing
}

// isWord reports whether a text may be the name that somebody gave to a directory.
func isWord(text string) bool {
	return len(text) > 1 && len(text) <= 64 && !strings.ContainsAny(text, "/\\")
}

// host is that of a URL, "" for none.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// holds reports whether a text names a directory of a workspace, from the
// working directory on where it is not absolute, that holds a file.
func (r *Run) holds(text, file string) bool {
	if text == "" || len(text) > 4096 {
		return false
	}
	for _, w := range r.Workspaces {
		dir := path.Clean(text)
		if !path.IsAbs(dir) {
			dir = path.Join(w, dir)
		}
		inside := dir == w || strings.HasPrefix(dir, w+"/")
		if inside && strings.HasPrefix(file, dir+"/") {
			return true
		}
	}
	return false
}

// texts are all strings of a value.
func texts(value any, out []string) []string {
	switch v := value.(type) {
	case string:
		return append(out, v)
	case []any:
		for _, e := range v {
			out = texts(e, out)
		}
	case map[string]any:
		for _, e := range v {
			out = texts(e, out)
		}
	}
	return out
}
