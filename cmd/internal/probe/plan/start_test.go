package plan

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// project lays out a project with a server in it.
func project(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top = filepath.Join(top, "shop")
	for name, text := range map[string]string{
		"package.json": `{"name": "shop"}`, "src/index.js": "", "tools/greet/__main__.py": "", "secret.txt": "x",
	} {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// A server starts in the directory that was named, and its code is shown there.
func TestStartsWhereNamed(t *testing.T) {
	t.Parallel()
	top := project(t)
	tools := filepath.Join(top, "tools")
	for name, c := range map[string]struct {
		command []string
		in      string
		// start, code and source are directories of the plan.
		start, code, source string
		first               string // the first argument
	}{
		"a relative script":        {[]string{"node", "src/index.js"}, top, top, top, top, filepath.Join(top, "src/index.js")},
		"a project's command":      {[]string{"npm", "start"}, top, top, top, top, "start"},
		"below the project":        {[]string{"npm", "start"}, tools, tools, top, top, "start"},
		"a module":                 {[]string{"python3", "-m", "greet"}, tools, tools, top, filepath.Join(tools, "greet"), "-m"},
		"code in the command":      {[]string{"python3", "-c", "pass"}, tools, tools, top, "", "-c"},
		"data of another's server": {[]string{"/bin/true", "x"}, tools, tools, "", "", "x"},
	} {
		p, err := New(Options{Target: Target{Command: c.command, Dir: c.in}}, nil, Account{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s := p.Server; s.Dir != c.start || s.ServerDir != c.code || s.Source != c.source || s.Command[1] != c.first {
			t.Errorf("%s: it starts in %s, its code is in %s, its source in %s, and it runs %q", name, s.Dir, s.ServerDir, s.Source, s.Command)
		}
		if i := slices.IndexFunc(p.Env, func(v Variable) bool { return v.Name == "PWD" }); p.Env[i].Value != c.start {
			t.Errorf("%s: PWD is %s", name, p.Env[i].Value)
		}
		if q := p.Copied(); c.code != "" && !strings.HasPrefix(q.Server.Dir, q.Server.ServerDir) {
			t.Errorf("%s: its copy is in %s, and it starts in %s", name, q.Server.ServerDir, q.Server.Dir)
		}
	}
}

// A configuration names no directory outside of its project.
func TestStartsWithinBounds(t *testing.T) {
	t.Parallel()
	top := project(t)
	link := filepath.Join(top, "link")
	if err := os.Symlink(filepath.Dir(top), link); err != nil {
		t.Fatal(err)
	}
	for dir, allowed := range map[string]bool{
		top: true, filepath.Join(top, "src"): true, filepath.Dir(top): false, link: false, "/": false,
		filepath.Join(top, "package.json"): false, filepath.Join(top, "nothing"): false, "relative": false,
	} {
		o := Options{Target: Target{Command: []string{"python3", "-c", "pass"}, Dir: dir, Within: top}}
		_, err := New(o, nil, Account{})
		var mend *sandbox.UsageError
		if (err == nil) != allowed || err != nil && (!errors.As(err, &mend) || mend.Hint == "") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
