package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// tree makes files below a directory: a name that ends in "/" is a directory,
// "a -> b" a link, "a = text" an executable of that text, the rest empty executables.
// "~" in a link or a text is the tree's home.
func tree(t *testing.T, names ...string) (root, home string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home = filepath.Join(root, "home/u")
	t.Setenv("HOME", home)
	for _, name := range names {
		name, text, isFile := strings.Cut(name, " = ")
		name, link, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		text = strings.ReplaceAll(strings.ReplaceAll(text, "~", home), `\n`, "\n")
		switch {
		case isLink:
			must(t, os.Symlink(strings.ReplaceAll(link, "~", home), path))
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case isFile:
			must(t, os.WriteFile(path, []byte(text), 0o755))
		default:
			must(t, os.WriteFile(path, nil, 0o755))
		}
	}
	return root, home
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// installed is a home with one of every kind of version manager.
var installed = []string{
	".pyenv/shims/python3 = #!/usr/bin/env bash\\nexport PYENV_ROOT=~/.pyenv\\n", ".pyenv/version = 3.11.7\\n",
	".pyenv/versions/3.11.7/bin/python3", ".pyenv/versions/3.11.7/lib/", ".pyenv/versions/3.11.2/bin/python3", ".pyenv/versions/3.11.2/lib/",
	".pyenv/versions/3.12.1/bin/python3", ".pyenv/versions/3.12.1/lib/",
	"py312/.python-version = 3.12.1 # pinned\\n", "py311/.python-version = 3.11\\n", "pynone/.python-version = 9.9\\n", "pysystem/.python-version = system\\n",
	"pyescape/.python-version = ../../../evil\\n",
	".nvm/versions/node/v20/bin/node", ".nvm/versions/node/v20/lib/node_modules/x/index.js = #!/usr/bin/env -S node --no-warnings\\n",
	".nvm/versions/node/v20/bin/mcp-x -> ../lib/node_modules/x/index.js",
	"fnm/installation/bin/node", "fnm/installation/lib/", "fnm/multishell -> installation",
	"venv/bin/python3 -> ~/.pyenv/versions/3.12.1/bin/python3", "venv/lib/", "venv/pyvenv.cfg = home = ~/.pyenv/versions/3.12.1/bin\\n",
	"venv/bin/mcp-y = #!~/venv/bin/python3\\n",
	".local/bin/mcp-tool -> ../share/uv/tools/mcp/bin/mcp-tool", ".local/lib/",
	".local/share/uv/tools/mcp/bin/mcp-tool = #!/bin/sh\\n'''exec' '~/.local/share/uv/tools/mcp/bin/python' \"$0\" \"$@\"\\n' '''\\n",
	".local/share/uv/tools/mcp/bin/python -> ~/.local/share/uv/python/cpython-3.13/bin/python3", ".local/share/uv/tools/mcp/lib/",
	".local/share/uv/tools/mcp/pyvenv.cfg = home = ~/.local/share/uv/python/cpython-3.13/bin\\n",
	".local/share/uv/python/cpython-3.13/bin/python3", ".local/share/uv/python/cpython-3.13/lib/",
	".asdf/shims/node = #!/usr/bin/env bash\\n# asdf-plugin: nodejs 20.1.0\\n# asdf-plugin: nodejs 18.2.0\\n", ".tool-versions = python 3.1\\nnodejs 18.2.0\\n",
	".asdf/installs/nodejs/18.2.0/bin/node", ".asdf/installs/nodejs/18.2.0/lib/", ".asdf/installs/nodejs/20.1.0/bin/node", ".asdf/installs/nodejs/20.1.0/lib/",
	"asdf20/.tool-versions = nodejs 20.1.0\\n",
	".volta/bin/node", ".volta/bin/mcp-v", ".volta/tools/user/platform.json = {\"node\":{\"runtime\":\"20.9.0\"}}",
	".volta/tools/image/node/20.9.0/bin/node", ".volta/tools/image/node/20.9.0/lib/",
	".volta/tools/image/packages/v/bin/mcp-v = #!/usr/bin/env node\\n", ".volta/tools/image/packages/v/lib/",
	"go/bin/server", "go/pkg/", "bin/script = #!/usr/bin/env FOO=1 node\\n", "bin/shimmed = #!~/.pyenv/shims/python3\\n", "bin/broken = #!/no/such/interpreter\\n",
	"bin/loop -> loop2", "bin/loop2 -> loop", "bin/self = #!~/bin/self\\n", "bin/zdir/",
	"userhome/.local/lib/python3.11/site-packages/mcp_x/", "proj/node_modules/.bin/mcp-z -> ../z/dist/main.js", "proj/node_modules/z/dist/main.js = #!/usr/bin/env node\\n",
}

func TestResolve(t *testing.T) {
	root, home := tree(t, installed...)
	plainFile := filepath.Join(home, "bin/plain")
	must(t, os.WriteFile(plainFile, nil, 0o644))
	all := []string{".nvm/versions/node/v20/bin", ".pyenv/shims", "venv/bin", ".local/bin", "go/bin", "bin"}
	for _, c := range []struct {
		name, command, home, cwd, env string
		visible                       string
		// want is the file to execute, shown the trees and files, in "~" terms.
		want, shown, links, err string
	}{
		{name: "user's packages", command: "/usr/bin/python3", home: "userhome", want: "/usr/bin/python3", shown: "~/userhome/.local/lib/python3.11/site-packages"},
		{name: "system", command: "sh", want: "/usr/bin/sh"},
		{name: "pyenv global", command: "python3", want: "~/.pyenv/versions/3.11.7/bin/python3", shown: "~/.pyenv/versions/3.11.7"},
		{name: "pyenv local", command: "python3", cwd: "py312", want: "~/.pyenv/versions/3.12.1/bin/python3", shown: "~/.pyenv/versions/3.12.1"},
		{name: "pyenv prefix", command: "python3", cwd: "py311", want: "~/.pyenv/versions/3.11.7/bin/python3", shown: "~/.pyenv/versions/3.11.7"},
		{name: "pyenv variable", command: "python3", cwd: "py311", env: "PYENV_VERSION=9.9:3.12.1", want: "~/.pyenv/versions/3.12.1/bin/python3", shown: "~/.pyenv/versions/3.12.1"},
		{name: "pyenv system", command: "python3", cwd: "pysystem", want: "~/venv/bin/python3", shown: "~/.pyenv/versions/3.12.1 ~/venv"},
		{name: "pyenv none", command: "python3", cwd: "pynone", err: "no version"},
		{name: "pyenv escape", command: "python3", cwd: "pyescape", want: "~/.pyenv/versions/3.11.7/bin/python3", shown: "~/.pyenv/versions/3.11.7"},
		{name: "pyenv by path", command: "~/.pyenv/shims/python3", want: "~/.pyenv/versions/3.11.7/bin/python3", shown: "~/.pyenv/versions/3.11.7"},
		{name: "nvm", command: "node", want: "~/.nvm/versions/node/v20/bin/node", shown: "~/.nvm/versions/node/v20"},
		{name: "nvm's global package", command: "mcp-x", want: "~/.nvm/versions/node/v20/bin/mcp-x", shown: "~/.nvm/versions/node/v20"},
		{name: "linked directory", command: "~/fnm/multishell/bin/node", want: "~/fnm/multishell/bin/node", shown: "~/fnm/installation ~/fnm/multishell"},
		{name: "venv", command: "~/venv/bin/python3", want: "~/venv/bin/python3", shown: "~/.pyenv/versions/3.12.1 ~/venv"},
		{name: "venv shown already", command: "~/venv/bin/python3", visible: "~/venv", want: "~/venv/bin/python3", shown: "~/.pyenv/versions/3.12.1"},
		{name: "venv's script", command: "mcp-y", want: "~/venv/bin/mcp-y", shown: "~/.pyenv/versions/3.12.1 ~/venv"},
		{name: "uv tool", command: "mcp-tool", want: "~/.local/bin/mcp-tool", shown: "~/.local/share/uv/python/cpython-3.13 ~/.local/share/uv/tools/mcp", links: "~/.local/bin/mcp-tool"},
		{name: "asdf", command: "~/.asdf/shims/node", want: "~/.asdf/installs/nodejs/18.2.0/bin/node", shown: "~/.asdf/installs/nodejs/18.2.0"},
		{name: "asdf local", command: "~/.asdf/shims/node", cwd: "asdf20", want: "~/.asdf/installs/nodejs/20.1.0/bin/node", shown: "~/.asdf/installs/nodejs/20.1.0"},
		{name: "volta", command: "~/.volta/bin/node", want: "~/.volta/tools/image/node/20.9.0/bin/node", shown: "~/.volta/tools/image/node/20.9.0"},
		{name: "volta's package", command: "~/.volta/bin/mcp-v", want: "~/.volta/tools/image/packages/v/bin/mcp-v", shown: "~/.volta/tools/image/node/20.9.0 ~/.volta/tools/image/packages/v"},
		{name: "alone", command: "server", want: "~/go/bin/server", shown: "~/go/bin/server"},
		{name: "relative", command: "./bin/server", cwd: "go", want: "~/go/bin/server", shown: "~/go/bin/server"},
		{name: "env with assignment", command: "script", want: "~/bin/script", shown: "~/.nvm/versions/node/v20 ~/bin/script"},
		{name: "shim in a script", command: "shimmed", want: "~/bin/shimmed", shown: "~/.pyenv/versions/3.11.7 ~/bin/shimmed", links: "~/.pyenv/shims/python3"},
		{name: "package's program", command: "~/proj/node_modules/.bin/mcp-z", want: "~/proj/node_modules/.bin/mcp-z", shown: "~/.nvm/versions/node/v20 ~/proj/node_modules"},
		{name: "not found", command: "no-such-program", err: "command not found: no-such-program"},
		{name: "not found by path", command: "./no/such", err: "command not found: ./no/such"},
		{name: "not executable", command: "~/bin/plain", err: "is not executable"},
		{name: "not executable in path", command: "plain", err: "is not executable"},
		{name: "directory", command: "~/bin/zdir", err: "is a directory"},
		{name: "directory in path", command: "zdir", err: "command not found"},
		{name: "no interpreter", command: "broken", err: "its interpreter"},
		{name: "loop", command: "~/bin/loop", err: "permission denied"},
		{name: "own interpreter", command: "self", err: "too many interpreters"},
		{name: "empty", command: "", err: "no command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expand := func(s string) string { return strings.ReplaceAll(s, "~", home) }
			h := host{cwd: filepath.Join(home, c.cwd), home: filepath.Join(home, c.home), env: func(name string) string {
				value, _ := strings.CutPrefix(c.env, name+"=")
				if value == c.env {
					return ""
				}
				return value
			}}
			for _, dir := range all {
				h.path = append(h.path, filepath.Join(home, dir))
			}
			h.path = append(h.path, "relative", "", "/usr/bin")
			visible := append([]string{"/usr", "/bin"}, strings.Fields(expand(c.visible))...)
			got, err := resolve(h, []string{expand(c.command), "argument"}, visible)
			if c.err != "" {
				var usage *sandbox.UsageError
				if err == nil || !strings.Contains(err.Error(), c.err) || !errors.As(err, &usage) {
					t.Fatalf("error %v, want a UsageError with %q", err, c.err)
				}
				return
			}
			must(t, err)
			if !slices.Equal(got.command, []string{expand(c.want), "argument"}) {
				t.Errorf("command %q, want %q", got.command, expand(c.want))
			}
			var shown, links []string
			for _, b := range got.binds {
				if !b.ReadOnly {
					t.Errorf("%s is writable", b.Target)
				}
				shown = append(shown, b.Target)
			}
			for _, l := range got.links {
				links = append(links, l.Path)
			}
			slices.Sort(shown)
			if want := strings.Fields(expand(c.shown)); !slices.Equal(shown, want) {
				t.Errorf("shown %q\n want %q", shown, want)
			}
			if want := strings.Fields(expand(c.links)); !slices.Equal(links, want) {
				t.Errorf("links %q, want %q", links, want)
			}
		})
	}
	_ = root
}

func TestNotFoundIsNotExist(t *testing.T) {
	_, err := resolve(host{}, []string{"no-such-program"}, nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestEnvCommand(t *testing.T) {
	for in, want := range map[string]string{
		"node": "node", "-S node --x": "node", "-Snode": "node", "-i A=1 B=2 python3 -u": "python3", "-u NAME -C /x ruby": "ruby",
		"--split-string=deno": "deno", "": "", "-S": "",
	} {
		if got := envCommand(strings.Fields(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzInterpreter(f *testing.F) {
	f.Add([]byte("#!/usr/bin/env -S node\n"))
	f.Add([]byte("#!/bin/sh\n'''exec' \"/a/b\" \"$0\" \"$@\"\n"))
	f.Fuzz(func(t *testing.T, script []byte) {
		path := filepath.Join(t.TempDir(), "script")
		must(t, os.WriteFile(path, script, 0o755))
		h := host{cwd: "/", path: []string{"/usr/bin"}, env: func(string) string { return "" }}
		p, err := resolve(h, []string{path}, []string{"/usr", "/bin"})
		if err != nil {
			return
		}
		for _, b := range p.binds {
			if sandbox.TooWide(b.Target) || !b.ReadOnly {
				t.Errorf("%q shows %+v", script, b)
			}
		}
	})
}

// A command of a repository leads to nothing of the host but what the user's search path
// or a Python installation is.
func TestResolveStaysWithinItsBounds(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	put("private/bin/tool", "#!/bin/sh\n")
	put("private/lib/secret.txt", "secret")
	put("base/bin/python3.11", "\x7fELF")
	put("base/lib/python3.11/os.py", "")
	put("repo/server", "#!/bin/sh\n")
	put("repo/shebang", "#!"+root+"/private/bin/tool\n")
	put("repo/bad/pyvenv.cfg", "home = "+root+"/private/bin\n")
	put("repo/bad/bin/python", "#!/bin/sh\n")
	put("repo/venv/pyvenv.cfg", "home = "+root+"/base/bin\n")
	for link, target := range map[string]string{"repo/link": "private/bin/tool", "repo/venv/bin/python": "base/bin/python3.11"} {
		path := filepath.Join(root, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(filepath.Join(root, target), path)); err != nil {
			t.Fatal(err)
		}
	}
	bounds := shown.Bounds{Top: filepath.Join(root, "repo")}
	for name, c := range map[string]struct {
		command string
		bounds  shown.Bounds
		refused bool
	}{
		"its own":               {root + "/repo/server", bounds, false},
		"another's by path":     {root + "/private/bin/tool", bounds, true},
		"the same, by flag":     {root + "/private/bin/tool", shown.Bounds{Top: bounds.Top, Also: []string{root + "/private"}}, false},
		"the same, by the user": {root + "/private/bin/tool", shown.Bounds{}, false},
		"by the search path":    {"tool", bounds, false},
		"by a link":             {root + "/repo/link", bounds, true},
		"by an interpreter":     {root + "/repo/shebang", bounds, true},
		"by pyvenv.cfg":         {root + "/repo/bad/bin/python", bounds, true},
		"a Python's":            {root + "/repo/venv/bin/python", bounds, false},
	} {
		h := host{cwd: root, path: []string{root + "/private/bin"}, env: func(string) string { return "" }, bounds: c.bounds}
		p, err := resolve(h, []string{c.command}, []string{"/bin", "/usr", bounds.Top})
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
		var usage *sandbox.UsageError
		if c.refused && (!errors.As(err, &usage) || !strings.HasPrefix(usage.Hint, "--show "+root)) {
			t.Errorf("%s: the hint of %v", name, err)
		}
		if p == nil {
			continue
		}
		for _, b := range p.binds {
			if c.bounds.Top != "" && len(c.bounds.Also) == 0 && c.command != "tool" && strings.HasPrefix(b.Source, root+"/private") {
				t.Errorf("%s: shows %s", name, b.Source)
			}
		}
	}
}
