package drift

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Session is one log with what is new in it.
type Session struct {
	Source      string       `json:"source"`
	Fingerprint *Fingerprint `json:"fingerprint"`
	Findings    []Drift      `json:"findings"`
}

// History is a directory's sessions by server, in the order of time.
type History struct {
	Servers map[string][]Session
	// Unread are the logs that could not be read, or not whole, with the reason.
	Unread []string
}

// runners start many servers: their name says nothing of which.
var runners = map[string]bool{"node": true, "npx": true, "npm": true, "python": true, "python3": true, "uv": true, "uvx": true, "docker": true, "sh": true, "bash": true, "deno": true, "bun": true, "bunx": true, "java": true, "go": true, "http": true, "https": true}

// renamed says that the same command has another name than ever before.
func (h *History) renamed(f *Fingerprint, commands map[string]set) []Drift {
	command := commandOf(f.Source)
	if command == "" || f.ServerName == "" || runners[command] {
		return nil
	}
	was := commands[command].sorted()
	addTo(commands, command, f.ServerName)
	if len(was) == 0 || slices.Contains(was, f.ServerName) {
		return nil
	}
	d := &finder{session: f.Source}
	d.add("server_identity_changed", 2, map[string]any{"name": f.ServerName}, "what “%s” runs calls itself “%s”, and was %s", command, f.ServerName, strings.Join(was, ", "))
	return d.out
}

// commandOf is what a tap, or a run, names a log after; "" for a log of another name.
func commandOf(source string) string {
	stem := strings.TrimSuffix(path.Base(source), ".jsonl")
	if dir := path.Dir(source); stem == "session" && dir != "." {
		return path.Base(dir)
	}
	if parts := strings.Split(stem, "_"); len(parts) >= 3 {
		return strings.Join(parts[1:len(parts)-1], "_")
	}
	return ""
}

// numbered is the end of a name that a tap gives to a further file of a second.
var numbered = regexp.MustCompile(`_[0-9]+$`)

// processOf names the tap that wrote a log, by what it ran and its process's id:
// a file that goes on with a session does not say whose it is.
func processOf(source string) string {
	command := commandOf(source)
	if command == "" || path.Base(source) == "session.jsonl" {
		return ""
	}
	stem := strings.TrimSuffix(path.Base(source), ".jsonl")
	return numbered.ReplaceAllString(command, "") + stem[strings.LastIndexByte(stem, '_'):]
}

// maxLogs bounds the logs of one directory.
const maxLogs = 100_000

// Watch reads every session log below the root, and compares each with those
// before it of the same server. A file that cannot be read is named in Unread.
func Watch(root *os.Root) (*History, error) {
	names, err := Logs(root)
	if err != nil {
		return nil, err
	}
	h := &History{Servers: map[string][]Session{}}
	var prints []*Fingerprint
	for _, name := range names {
		f, err := read(root, name)
		if err != nil {
			h.Unread = append(h.Unread, fmt.Sprintf("%s: %v", shown(name), err))
		}
		if f != nil {
			prints = append(prints, f)
		}
	}
	slices.SortStableFunc(prints, func(a, b *Fingerprint) int {
		return cmp.Or(a.FirstTS.Compare(b.FirstTS), strings.Compare(a.Source, b.Source))
	})
	baselines := map[string]*baseline{}
	commands := map[string]set{}
	running := map[string]string{} // the server of a tap, by processOf
	for _, f := range prints {
		key := serverOf(f)
		switch process := processOf(f.Source); {
		case process == "":
		case !f.TailOnly || f.ServerName != "":
			running[process] = key
		case running[process] != "":
			key = running[process]
		}
		b := baselines[key]
		if b == nil {
			b = newBaseline()
			baselines[key] = b
		}
		found := append(h.renamed(f, commands), b.compare(f)...)
		if found == nil {
			found = []Drift{}
		}
		b.merge(f)
		h.Servers[key] = append(h.Servers[key], Session{Source: f.Source, Fingerprint: f, Findings: found})
	}
	return h, nil
}

// tapName is how a tap names a log.
var tapName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z_.{0,32}_[0-9]+\.jsonl$`)

// maxDirs bounds the directories that are looked into.
const maxDirs = 100_000

// Logs lists the session logs of a directory: *.jsonl in it, and on all levels below the logs
// that a tap named and session.jsonl, as coalmine probe writes it. Of a probe's directory the
// declared run counts, and none of those that it was compared with. Links are not followed.
func Logs(root *os.Root) ([]string, error) {
	var out []string
	dirs := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if dirs++; dirs > maxDirs {
				return fmt.Errorf("there are more than %d directories", maxDirs)
			}
			if !regular(root, path.Join(name, session.IndexFile)) {
				return nil
			}
			if log := path.Join(name, session.FramesFile); regular(root, log) {
				out = append(out, log)
			}
			return fs.SkipDir
		case !e.Type().IsRegular() || !isLog(name):
			return nil
		case len(out) >= maxLogs:
			return fmt.Errorf("there are more than %d logs", maxLogs)
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the logs: %w", err)
	}
	return out, nil
}

// isLog reports whether a file is a session's log, by its name.
func isLog(name string) bool {
	base := path.Base(name)
	switch {
	case base == session.TraceFile:
		return false
	case path.Dir(name) == ".":
		return strings.HasSuffix(base, ".jsonl")
	}
	return base == session.FramesFile || tapName.MatchString(base)
}

func regular(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// read reduces one log; it returns nil for a session without a word. With an error
// it returns what could be read nevertheless, nil if that is nothing.
func read(root *os.Root, name string) (*Fingerprint, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, c := wirelog.NewReader(f), NewCollector()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		c.Event(e, r.State)
	}
	if r.Stats.Events == 0 {
		return nil, damage(&r.Stats)
	}
	seen := c.Fingerprint(name, r.State, r.Stats)
	if err := seen.probed(root); err != nil {
		return seen, err
	}
	return seen, damage(&r.Stats)
}

// damage says what of a log could not be read, nil if all of it could.
func damage(s *wirelog.Stats) error {
	switch {
	case s.Unreadable > 0:
		return fmt.Errorf("it has %s that coalmine cannot read, the first: %s", text.Plural(s.Unreadable, "line"), s.FirstUnreadable)
	case s.Missing > 0:
		return fmt.Errorf("it lacks %s", text.Plural(s.Missing, "frame"))
	case s.Torn:
		return errors.New("it ends within a line")
	}
	return nil
}

// serverOf names the server of a session: by itself, else by the name that a tap
// puts into the file's, else by the file.
func serverOf(f *Fingerprint) string {
	if f.ServerName != "" {
		return f.ServerName
	}
	if command := commandOf(f.Source); command != "" {
		return command
	}
	return strings.TrimSuffix(path.Base(f.Source), ".jsonl")
}

// Worst is the highest severity of all drift, 0 for none.
func (h *History) Worst() (worst int) {
	for _, sessions := range h.Servers {
		for _, s := range sessions {
			for _, d := range s.Findings {
				worst = max(worst, d.Severity)
			}
		}
	}
	return worst
}
