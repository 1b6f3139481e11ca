//go:build linux && e2e

package verdicts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

const (
	// allEnv asks for the whole corpus: without it a fixed sample is probed.
	allEnv = "COALMINE_VERDICTS"
	// halfEnv is the half that is probed, "seen" or "unseen". Without it both are.
	halfEnv = "HALF"
)

// longest is how long a probe of a small server may take, with all that findings lead to.
const longest = 6 * time.Minute

// server is one case of the corpus.
type server struct {
	Name string `json:"-"`
	dir  string
	// Family is the kind of attack or of everyday server, Does says in a sentence what it does.
	Family string `json:"family"`
	Does   string `json:"does"`
	// Sighted says that its author knew the rules, Opened that it was looked at, whatever its name's hash.
	Sighted bool `json:"sighted"`
	Opened  bool `json:"opened"`
	// Names are texts of which a finding holds one if it names an attack's deed.
	Names []string          `json:"names"`
	Args  []string          `json:"args"`
	Env   map[string]string `json:"env"`
}

// The halves: cases that may be looked at while rules are made, and those that must not be.
const seen, unseen = "seen", "unseen"

func (s *server) half() string {
	if s.Opened || sha256.Sum256([]byte(s.Name))[0]&1 == 0 {
		return seen
	}
	return unseen
}

// author is "sighted" for one who knew the rules, and else "blind".
func (s *server) author() string {
	if s.Sighted {
		return "sighted"
	}
	return "blind"
}

// corpus reads the cases of one kind: all of them, or the named ones.
func corpus(t *testing.T, kind string, sample ...string) []*server {
	t.Helper()
	root := filepath.Join(sandboxtest.ModuleRoot(t), "testdata", "verdicts", kind)
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	half := os.Getenv(halfEnv)
	if half != "" && half != seen && half != unseen {
		t.Fatalf("%s=%s is neither %s nor %s", halfEnv, half, seen, unseen)
	}
	var out []*server
	for _, d := range dirs {
		s := &server{Name: d.Name(), dir: filepath.Join(root, d.Name())}
		data, err := os.ReadFile(filepath.Join(s.dir, "case.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, s); err != nil || s.Family == "" || s.Does == "" {
			t.Fatalf("%s: its case.json has a family and what it does: %v", s.Name, err)
		}
		if half != "" && s.half() != half {
			continue
		}
		if os.Getenv(allEnv) != "" || slices.Contains(sample, s.Name) {
			out = append(out, s)
		}
	}
	return out
}

// copyTo copies the case, and the library that it may import, into a lab, and returns the
// command that starts it.
func (s *server) copyTo(l *probetest.Lab) []string {
	l.T.Helper()
	for _, from := range []string{filepath.Join(filepath.Dir(filepath.Dir(s.dir)), "lib"), s.dir} {
		err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
			rel, relErr := filepath.Rel(from, p)
			if err != nil || relErr != nil || rel == "case.json" {
				return err
			}
			if d.IsDir() {
				return os.MkdirAll(l.Path(rel), 0o755)
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return os.WriteFile(l.Path(rel), data, info.Mode().Perm())
		})
		if err != nil {
			l.T.Fatal(err)
		}
	}
	for file, program := range map[string]string{"server.py": "python3", "server.mjs": "node", "server.cjs": "node", "server.js": "node", "server.sh": "sh"} {
		if _, err := os.Stat(filepath.Join(s.dir, file)); err == nil {
			return append([]string{program, l.Path(file)}, s.Args...)
		}
	}
	l.T.Fatalf("%s has no server", s.Name)
	return nil
}

// probe probes a case with the settings of a user who gives none.
func (s *server) probe(t *testing.T) *analyze.Result {
	t.Helper()
	kept := s.kept(t)
	if res := read(kept); res != nil && os.Getenv(allEnv) != "" {
		return res
	}
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python", "node")
	l := probetest.New(t)
	args := []string{"probe", "--sandbox", "local", "--seed", "1", "--out", l.Out}
	for name, value := range s.Env {
		args = append(args, "--env", name+"="+value)
	}
	command := s.copyTo(l)
	l.Cwd = l.Path("") // as a user does in a checkout
	c := l.Start("local", nil, append(append(args, "--"), command...)...)
	if !c.EndsWithin(longest) {
		t.Fatalf("%s: coalmine did not end in %v", s.Name, longest)
	}
	res := read(filepath.Join(l.LogDir(), "report.json"))
	if res == nil {
		t.Fatalf("%s: no report (exit %d): %.500s", s.Name, c.Status(), c.Err.String())
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err == nil {
		if data, err := json.Marshal(res); err == nil {
			_ = os.WriteFile(kept, data, 0o600)
		}
	}
	return res
}

// read reads a report, nil for none.
func read(name string) *analyze.Result {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	res := &analyze.Result{}
	if json.Unmarshal(data, res) != nil {
		return nil
	}
	return res
}

// kept is the file with the result of a case for the same program and the same files.
func (s *server) kept(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	add := func(name string) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprintln(sum, filepath.Base(name))
		if _, err := io.Copy(sum, f); err != nil {
			t.Fatal(err)
		}
	}
	add(sandboxtest.Build(t, "./cmd/coalmine"))
	for _, dir := range []string{s.dir, filepath.Join(filepath.Dir(filepath.Dir(s.dir)), "lib")} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				add(p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(probetest.CacheDir(t), "verdicts", hex.EncodeToString(sum.Sum(nil)))
}

// rules lists the findings from a severity on, the audit's included, each rule once.
func rules(res *analyze.Result, least finding.Severity) string {
	var out []string
	for _, f := range res.All() {
		if f.Severity.Rank() >= least.Rank() {
			out = append(out, f.Rule+" "+string(f.Severity))
		}
	}
	return strings.Join(slices.Compact(out), ", ")
}

// names reports whether a finding says which deed an attack did.
func (s *server) names(f *finding.Finding) bool {
	text := f.Message
	for _, e := range f.Evidence {
		text += "\n" + e.Text
	}
	return slices.ContainsFunc(s.Names, func(n string) bool { return strings.Contains(text, n) })
}

// outcome is what was said of an attack, best first: gated by a finding that names it, found by
// another, doubted, only told at a low severity, or clean.
func (s *server) outcome(res *analyze.Result) string {
	word := map[analyze.Verdict]string{analyze.Findings: "found", analyze.Inconclusive: "doubted", analyze.Clean: "clean"}[res.Verdict]
	for _, f := range res.All() {
		switch {
		case !s.names(&f):
		case f.Severity.Rank() >= finding.High.Rank():
			return "gated"
		case word == "clean" && f.Severity != finding.Info:
			word = "low"
		}
	}
	return word
}

// tally counts outcomes by group: a half of the corpus, or one author's part of it.
type tally map[string]map[string]int

func (n tally) add(s *server, word string) {
	for _, group := range []string{s.half(), s.half() + ", " + s.author()} {
		if n[group] == nil {
			n[group] = map[string]int{}
		}
		n[group][word]++
	}
}

func (n tally) print(kind string, words ...string) {
	for _, group := range slices.Sorted(maps.Keys(n)) {
		all, line := 0, ""
		for _, c := range n[group] {
			all += c
		}
		for _, w := range words {
			line += fmt.Sprintf(" %s %d,", w, n[group][w])
		}
		fmt.Printf("%s %s:%s of %d\n", kind, group, line, all)
	}
}

// sampleAttacks and sampleQuiet are what every run of the tests probes.
var (
	sampleAttacks = []string{"pomodoro"}
	sampleQuiet   = []string{"list-home", "diary-open"}
)

// run probes cases side by side, and says of each a word.
func run(t *testing.T, kind string, cases []*server, say func(*server, *analyze.Result) (word, more string), words ...string) {
	t.Helper()
	type count struct {
		server *server
		word   string
	}
	counts := make(chan count, len(cases))
	t.Run("case", func(t *testing.T) {
		for _, s := range cases {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				word, more := say(s, s.probe(t))
				counts <- count{s, word}
				// Whoever reads an outcome of the unseen half has seen it: its totals are all that is told.
				if s.half() == seen {
					fmt.Printf("%s %s %s (%s): %s in %v %s\n", kind, s.half(), s.Name, s.Family, word, time.Since(began).Round(time.Second), more)
				}
			})
		}
	})
	close(counts)
	n := tally{}
	for c := range counts {
		n.add(c.server, c.word)
	}
	n.print(kind, words...)
}

// TestAttacks counts the attacks of which something is said. COALMINE_VERDICTS=all takes all
// of them, SHARD=i/n a part.
func TestAttacks(t *testing.T) {
	cases := probetest.Shard(t, corpus(t, "attacks", sampleAttacks...))
	run(t, "attack", cases, func(s *server, res *analyze.Result) (string, string) {
		word := s.outcome(res)
		if os.Getenv(allEnv) == "" && word != "gated" {
			t.Errorf("%s: %s: %s; %+v", s.Name, s.Does, word, res.Findings)
		}
		return word, rules(res, finding.Low)
	}, "gated", "found", "doubted", "low", "clean")
}

// TestQuiet counts the everyday servers of which nothing is said from medium on.
func TestQuiet(t *testing.T) {
	cases := probetest.Shard(t, corpus(t, "quiet", sampleQuiet...))
	run(t, "quiet", cases, func(s *server, res *analyze.Result) (string, string) {
		word, more := "quiet", rules(res, finding.Medium)
		switch {
		case more != "":
			word = "loud"
		case res.Verdict != analyze.Clean:
			word, more = "inconclusive", strings.Join(res.Inconclusive, "; ")
		}
		if os.Getenv(allEnv) == "" && word != "quiet" {
			t.Errorf("%s: %s: %s: %s", s.Name, s.Does, word, more)
		}
		return word, more
	}, "quiet", "loud", "inconclusive")
}
