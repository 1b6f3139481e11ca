package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// serverTree makes a home full of servers and says where it is.
func serverTree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"home/u/proj/package.json", "home/u/proj/dist/index.js", "home/u/proj/data/x",
		"home/u/mono/package.json", "home/u/mono/node_modules/pkg/package.json", "home/u/mono/node_modules/pkg/node_modules/sub/package.json",
		"home/u/mono/node_modules/pkg/node_modules/sub/bin.js",
		"home/u/venv/pyvenv.cfg", "home/u/venv/bin/python", "home/u/venv/bin/mcp-server-time",
		"home/u/venv/lib/python3.11/site-packages/mcp_server_time/__main__.py",
		"home/u/base/lib/python3.11/site-packages/thing/main.py",
		"home/u/py/requirements.txt", "home/u/py/src/server.py", "home/u/py/pkg/__main__.py", "home/u/py/notes.db",
		"home/u/loose/server.py", "home/u/loose/noextension", "home/u/alone.js", "home/u/repo/.git/config", "home/u/repo/docs/a.md",
		"home/u/gomod/go.mod", "home/u/gomod/run.sh",
		"home/u/.pyenv/.git/config", "home/u/.pyenv/versions/3/bin/mcp-x", "home/u/.pyenv/versions/3/lib/x", "home/u/.pyenv/versions/3/share/x", "home/u/.pyenv/shims/mcp-y",
		"home/u/pkgdir/package.json", "home/u/py/.venv/pyvenv.cfg", "home/u/py/.venv/bin/python",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "home/u/bins"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "home/u/gomod/server"), []byte("\x7fELF…"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "home/u/bins/server"), []byte("\x7fELF…"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestServerDir(t *testing.T) {
	root := serverTree(t)
	home := filepath.Join(root, "home/u")
	for _, c := range []struct {
		name, command, cwd, dir string
		workspaces              string
	}{
		{"package", "node ~/proj/dist/index.js stdio", "", "~/proj", ""},
		{"relative", "node dist/index.js", "proj", "~/proj", ""},
		{"workspace after", "node ~/proj/dist/index.js /data /srv/work", "", "~/proj", "/data /srv/work"},
		{"workspace inside", "node ~/proj/dist/index.js ~/proj/data", "", "~/proj", ""},
		{"option's workspace", "node ~/proj/dist/index.js --root=/data --x /data", "", "~/proj", "/data"},
		{"file is no workspace", "node ~/proj/dist/index.js /data/notes.db", "", "~/proj", ""},
		{"system is no workspace", "node ~/proj/dist/index.js / /usr/share/x /etc/y", "", "~/proj", ""},
		{"node_modules", "node ~/mono/node_modules/pkg/node_modules/sub/bin.js", "", "~/mono", ""},
		{"flag before", "node --max-old-space-size=99 --trace ~/proj/dist/index.js", "", "~/proj", ""},
		{"env file", "node --env-file ~/py/notes.db ~/proj/dist/index.js", "", "~/proj", ""},
		{"requirements", "python3.11 ~/py/src/server.py", "", "~/py", ""},
		{"own directory", "python3 ~/loose/server.py", "", "~/loose", ""},
		{"no extension", "python3 ~/loose/noextension", "", "~/loose", ""},
		{"in home itself", "node ~/alone.js", "", "~/alone.js", ""},
		{"installed module", "python3 -m mcp_server_time", "py", "", ""},
		{"installed module with data", "python3 -m mcp_server_sqlite --db-path ~/py/notes.db", "py", "", ""},
		{"module here", "python3 -m pkg", "py", "~/py", ""},
		{"venv's interpreter", "~/venv/bin/python -m mcp_server_time", "", "~/venv", ""},
		{"venv's interpreter with a module here", "~/venv/bin/python -m pkg", "py", "~/py", ""},
		{"venv's interpreter with a script", "~/venv/bin/python ~/py/src/server.py", "", "~/py", ""},
		{"venv of a project", "~/py/.venv/bin/python -m thing", "", "~/py", ""},
		{"venv's script", "~/venv/bin/mcp-server-time --local-timezone=UTC", "", "~/venv", ""},
		{"site-packages", "python3 ~/venv/lib/python3.11/site-packages/mcp_server_time/__main__.py", "", "~/venv", ""},
		{"bare site-packages", "python3 ~/base/lib/python3.11/site-packages/thing/main.py", "", "~/base/lib/python3.11/site-packages", ""},
		{"uv directory", "uv --directory ~/py run server", "", "~/py", "~/py"},
		{"data directory", "mcp-server-filesystem ~/proj", "", "", "~/proj"},
		{"npx data", "npx -y @x/server-filesystem ~/repo/docs", "", "", "~/repo/docs"},
		{"repository as data", "uvx mcp-server-git --repository ~/repo", "", "", "~/repo"},
		{"package directory", "node ~/pkgdir", "", "~/pkgdir", ""},
		{"binary", "~/gomod/server --port 1", "", "~/gomod", ""},
		{"relative binary", "./server", "gomod", "~/gomod", ""},
		{"script in a module", "~/gomod/run.sh", "", "~/gomod", ""},
		{"on the path", "onpath x", "", "~/bins", ""},
		{"shim", "~/.pyenv/shims/mcp-y", "", "", ""},
		{"version manager", "~/.pyenv/versions/3/bin/mcp-x", "", "~/.pyenv/versions/3/bin/mcp-x", ""},
		{"bare", "node", "", "", ""},
		{"system program", "/usr/bin/env", "", "", ""},
		{"missing", "node ~/nothing.js", "", "", ""},
		{"script that is named from a directory", "node dist/index.js", "named:~/proj", "~/proj", ""},
		{"module that is named from a directory", "python3 -m pkg", "named:~/py", "~/py", ""},
		{"code without a file", "python3 -c x", "named:~/loose", "~/loose", ""},
		{"a project's own command", "npm start", "named:~/proj", "~/proj", ""},
		{"a project's own command here", "npm run dev", "proj", "~/proj", ""},
		{"a project's own command below it", "npm --silent start", "named:~/proj/dist", "~/proj", ""},
		{"a project's own module", "go run . --flag", "named:~/gomod", "~/gomod", ""},
		{"no command of a project", "npm view x", "proj", "", ""},
		{"a command without a project", "npm start", "loose", "", ""},
		{"a data directory is not code", "/usr/bin/server /data", "named:~/proj", "", "~/proj /data"},
		{"a data directory beside the code", "node ~/proj/dist/index.js", "named:~/loose", "~/proj", "~/loose"},
		{"the project around a package", "python3 ~/py/src/server.py", "named:~/py", "~/py", ""},
		{"a directory that is too wide", "python3 -c x", "named:~", "", ""},
		{"the root directory", "python3 -c x", "named:/", "", ""},
		{"unknown program's script", "mytool run ~/proj/dist/index.js", "", "~/proj", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			expand := func(s string) []string { return strings.Fields(strings.ReplaceAll(s, "~", home)) }
			p := place{cwd: filepath.Join(home, c.cwd), home: home, lookPath: func(name string) (string, error) {
				if name == "onpath" {
					return filepath.Join(home, "bins/server"), nil
				}
				return "", errors.New("not found")
			}}
			if here, named := strings.CutPrefix(c.cwd, "named:"); named {
				p.cwd, p.named = filepath.Clean(strings.ReplaceAll(here, "~", home)), true
			}
			dir, workspaces := p.serverDir(expand(c.command))
			if want := strings.ReplaceAll(c.dir, "~", home); dir != want {
				t.Errorf("dir %q, want %q", dir, want)
			}
			// A directory that is the server's is not one to work on.
			want := slices.DeleteFunc(expand(c.workspaces), func(s string) bool { return s == dir })
			if !slices.Equal(workspaces, want) {
				t.Errorf("workspaces %q, want %q", workspaces, want)
			}
		})
	}
}

func TestServerDirIsNeverTooWide(t *testing.T) {
	root := serverTree(t)
	home := filepath.Join(root, "home/u")
	var paths []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, "/", "/usr", "/usr/bin/env", "/etc/passwd", "/tmp", "/home", "/root", "-m", "--directory", "--root="+home)
	programs := []string{"node", "python3", "uv", "mcp-x", home, "/usr/bin/env", filepath.Join(home, "gomod/server")}
	rapid.Check(t, func(r *rapid.T) {
		command := append([]string{rapid.SampledFrom(programs).Draw(r, "program")}, rapid.SliceOfN(rapid.SampledFrom(paths), 0, 4).Draw(r, "args")...)
		cwd := rapid.SampledFrom([]string{"/", home, filepath.Join(home, "py")}).Draw(r, "cwd")
		p := place{cwd: cwd, named: rapid.Bool().Draw(r, "named"), home: home, lookPath: func(string) (string, error) { return "", errors.New("none") }}
		dir, workspaces := p.serverDir(command)
		if dir != "" && (!filepath.IsAbs(dir) || shown.Within(home, dir) || dir == "/tmp") {
			r.Fatalf("%q shows %q", command, dir)
		}
		for _, w := range workspaces {
			if isSystem(w) || dir != "" && shown.Within(w, dir) {
				r.Fatalf("%q works on %q", command, w)
			}
		}
	})
}

func TestDataDirs(t *testing.T) {
	for name, c := range map[string]struct{ words, there, want string }{
		"an argument":                    {"--db-path /data/notes.db", "", "/data"},
		"after an equals sign":           {"--db=/data/notes.db", "", "/data"},
		"two of one directory":           {"/data/a.db /data/b.json", "", "/data"},
		"one within the other":           {"/data/a.db /data/more/b.json", "", "/data"},
		"around what is there":           {"/data/a.db", "/data/work", ""},
		"within what is there":           {"/data/work/deep/a.db", "/data/work", ""},
		"beside what is there":           {"/data/state/a.db", "/data/work workspace", "/data/state"},
		"the system's":                   {"--config /etc/server/a.yaml /usr/share/x/a.db /proc/1/a.db", "", ""},
		"too wide":                       {"/a.db /tmp/a.db /home/u/a.db /var/lib/a.db", "", ""},
		"a directory":                    {"/data/notes", "", ""},
		"no path":                        {"notes.db https://example.com/a.db sqlite:///data/a.db", "", ""},
		"a program's file":               {"/srv/app/preload.cjs", "", ""},
		"a list of paths":                {"/data/a.db:/data2/b.db", "", ""},
		"climbing, and cleaned up first": {"/data/../etc/a.db", "", ""},
	} {
		if got := DataDirs(strings.Fields(c.words), strings.Fields(c.there)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
