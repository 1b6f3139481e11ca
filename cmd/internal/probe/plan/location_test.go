package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// No location names what only this machine has.
func TestRelative(t *testing.T) {
	wd := t.TempDir()
	t.Chdir(wd)
	for in, want := range map[string]string{
		"": ".", "a/b.js": "a/b.js", "./a/../b.js": "b.js", wd: ".", filepath.Join(wd, "x/y.js"): "x/y.js", filepath.Join(wd, "..x"): "..x",
		"../outside/x.js": "x.js", "/opt/server/index.js": "index.js", filepath.Dir(wd): filepath.Base(filepath.Dir(wd)),
		"/root/n/node_modules/@s/p/dist/index.js":                    "node_modules/@s/p/dist/index.js",
		"/root/n/node_modules/a/node_modules/b/i.js":                 "node_modules/b/i.js",
		"/root/py/lib/python3.11/site-packages/mcp_server_time/x.py": "site-packages/mcp_server_time/x.py",
	} {
		if got := Relative(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	t.Chdir("/")
	if got := Relative(filepath.Join(wd, "x.js")); got != "x.js" {
		t.Errorf("from the root directory: %q", got)
	}
}

func TestLocation(t *testing.T) {
	wd := t.TempDir()
	t.Chdir(wd)
	write := func(name, data string) string {
		p := filepath.Join(wd, name)
		if err := os.WriteFile(p, []byte(data), 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	program, script := write("node", "\x7fELF..."), write("index.js", "x")
	write("package.json", "{}")
	entry := &finding.Location{Path: filepath.Join(wd, ".mcp.json"), Line: 4, Column: 7}
	for _, c := range []struct {
		name    string
		command []string
		dir     string
		entry   *finding.Location
		want    finding.Location
	}{
		{"a configuration", []string{program, script}, wd, entry, finding.Location{Path: ".mcp.json", Line: 4, Column: 7}},
		{"a script", []string{program, "--flag", script}, wd, nil, finding.Location{Path: "index.js", Line: 1}},
		{"a program", []string{program}, wd, nil, finding.Location{Path: "node", Line: 1}},
		{"a directory", []string{"node", wd}, wd, nil, finding.Location{Path: "package.json", Line: 1}},
		{"a module", []string{"python3", "-m", "mcp_server_time"}, "", nil, finding.Location{Path: "python3", Line: 1}},
	} {
		p := Plan{Server: Server{Command: c.command, ServerDir: c.dir}}
		if got := Location(c.entry, nil, p); got != c.want || strings.HasPrefix(got.Path, "/") {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A directory that a variable names for the server's work is a workspace, as one among its arguments is.
func TestDirectoriesOfVariables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"a directory":           {map[string]string{"NOTES_DIR": "/notes"}, []string{"/notes"}},
		"two":                   {map[string]string{"ALLOWED_PATHS": "/a/x,/b"}, []string{"/a/x", "/b"}},
		"a cache":               {map[string]string{"NOTES_CACHE_DIR": "/notes"}, nil},
		"a file":                {map[string]string{"NOTES_PATH": "/notes/all.json"}, nil},
		"a route":               {map[string]string{"MCP_HTTP_PATH": "/mcp"}, nil},
		"no directory's name":   {map[string]string{"NOTES": "/notes"}, nil},
		"where programs lie":    {map[string]string{"PATH": "/opt/bin"}, nil},
		"a directory of system": {map[string]string{"SITE_ROOT": "/usr"}, nil},
	} {
		p, err := New(Options{Target: Target{Command: []string{"/bin/true"}}, Surroundings: Surroundings{Env: c.env}}, nil, Account{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := c.want
		if p.Server.Rooted != (want != nil) {
			t.Errorf("%s: rooted %v", name, p.Server.Rooted)
		}
		if want != nil && !slices.Equal(p.Server.Workspaces, want) {
			t.Errorf("%s: %q", name, p.Server.Workspaces)
		}
	}
}
