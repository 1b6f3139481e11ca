package plan

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// contentIn is the content of a command in a directory, with the change given.
func contentIn(t *testing.T, dir string, change func(*Options, *Plan)) Content {
	t.Helper()
	o := Options{Target: Target{Command: []string{"python3", filepath.Join(dir, "server.py")}}, Seed: 1}
	o.Fill()
	p := Plan{Target: "notes", View: &shown.View{Real: dir, Hidden: []string{".git", "out"}}}
	p.Server.ServerDir = dir
	if change != nil {
		change(&o, &p)
	}
	return ContentOf(context.Background(), &o, nil, &p)
}

func fill(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A digest is the same wherever a server lies, and another with anything that the server is.
func TestContent(t *testing.T) {
	t.Parallel()
	files := map[string]string{"server.py": "x", "lib/a.py": "y", ".git/index": "1", "out/report": "1"}
	one, two := fill(t, files), fill(t, map[string]string{"server.py": "x", "lib/a.py": "y", ".git/index": "2", "out/other": "2"})
	was := contentIn(t, one, nil)
	if !strings.HasPrefix(was.Digest, "sha256:") || was.Unknown != "" || was.Digest != contentIn(t, two, nil).Digest {
		t.Fatalf("%+v and %+v", was, contentIn(t, two, nil))
	}
	seen := map[string]string{was.Digest: "unchanged"}
	for name, change := range map[string]func(*Options, *Plan){
		"an argument":   func(o *Options, _ *Plan) { o.Command = append(o.Command, "-v") },
		"a literal":     func(o *Options, _ *Plan) { o.Command[1] = "{}/server.py" },
		"a variable":    func(o *Options, _ *Plan) { o.Env = map[string]string{"A": "b"} },
		"the network":   func(o *Options, _ *Plan) { o.Network = NetworkNone },
		"the transport": func(o *Options, _ *Plan) { o.Transport = TransportHTTP },
		"what is masked": func(_ *Options, p *Plan) {
			p.View.Covers = []shown.Cover{{Path: "lib/a.py", Data: []byte("z")}}
		},
		"what is hidden": func(_ *Options, p *Plan) { p.View.Hidden = append(p.View.Hidden, "lib") },
		"one file":       func(_ *Options, p *Plan) { p.View = &shown.View{Real: filepath.Join(one, "lib", "a.py")} },
	} {
		got := contentIn(t, one, change)
		if got.Digest == "" || seen[got.Digest] != "" {
			t.Errorf("%s: %q is the digest of %q", name, got.Unknown, seen[got.Digest])
		}
		seen[got.Digest] = name
	}
	for name, change := range map[string]func(dir string) error{
		"a file's text": func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib/a.py"), []byte("w"), 0o644) },
		"a new file":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o644) },
		"its mode":      func(dir string) error { return os.Chmod(filepath.Join(dir, "server.py"), 0o755) },
		"its name": func(dir string) error {
			return os.Rename(filepath.Join(dir, "lib/a.py"), filepath.Join(dir, "lib/b.py"))
		},
	} {
		dir := fill(t, files)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if got := contentIn(t, dir, nil); got.Digest == "" || seen[got.Digest] != "" {
			t.Errorf("%s: %q is the digest of %q", name, got.Unknown, seen[got.Digest])
		}
	}
}

func TestContentIsUnknown(t *testing.T) {
	t.Parallel()
	dir := fill(t, map[string]string{"server.py": "x"})
	for why, change := range map[string]func(*Options, *Plan){
		"real values":     func(o *Options, _ *Plan) { o.PassEnv = []string{"A"} },
		"a remote server": func(o *Options, _ *Plan) { o.Remote = &Remote{} },
		"paths of this":   func(o *Options, _ *Plan) { o.Show = []string{"/x"} },
		"a program of":    func(o *Options, _ *Plan) { o.TextJudge = []string{"x"} },
		"no directory":    func(_ *Options, p *Plan) { p.View = nil },
		"is shown to":     func(_ *Options, p *Plan) { p.Shown = []session.Shown{{Path: "/x", Why: session.ShownServer}} },
		"no such file":    func(_ *Options, p *Plan) { p.View.Real = filepath.Join(dir, "none") },
	} {
		if got := contentIn(t, dir, change); got.Digest != "" || !strings.Contains(got.Unknown, why) {
			t.Errorf("%s: %+v", why, got)
		}
	}
}

func TestLess(t *testing.T) {
	t.Parallel()
	e := Effort{Budget: Budget{Calls: 2, Timeout: time.Minute, ShrinkTime: time.Minute}, Vary: []string{"ci", "clock"}}
	for _, c := range []struct {
		than Effort
		less bool
	}{
		{e, false}, {Effort{}, false}, {Effort{Budget: Budget{Calls: 3}}, true}, {Effort{Budget: Budget{Timeout: time.Hour}}, true},
		{Effort{Budget: Budget{ShrinkTime: time.Hour}}, false}, {Effort{Vary: []string{"clock"}}, false}, {Effort{Vary: []string{"locale"}}, true},
	} {
		if why := e.Less(c.than); (why != "") != c.less {
			t.Errorf("%+v: %q", c.than, why)
		}
	}
}
