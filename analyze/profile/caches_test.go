package profile

import (
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A package manager's cache is scratch for that program alone: others run what stands there.
func TestOnlyAPackageManagerKeepsItsCache(t *testing.T) {
	t.Parallel()
	b := builder()
	started := func(argv ...string) *process { return runs(&trace.Record{Path: argv[0], Argv: argv}) }
	npm := started("/usr/bin/node", "/usr/lib/node_modules/npm/bin/npm-cli.js", "install")
	npm.program = "npm"
	for _, c := range []struct {
		path, exe string
		by        *process
		class     string
	}{
		{"/home/dana/.npm/_cacache/tmp/1", "/usr/bin/node", npm, noiseScratch},
		{"/home/dana/.npm/_cacache/tmp/1", "/usr/bin/node", started("/usr/bin/node", "/srv/notes/npm.js"), ""},
		{"/home/dana/.npm/_npx/1/node_modules/x/index.js", "/usr/bin/node", nil, ""},
		{"/home/dana/.npm/_logs/1.log", "/usr/bin/node", started("/usr/bin/node", "/srv/notes/server.js"), noiseScratch},
		{"/home/dana/.cache/pip/wheels/1", "/usr/bin/python3.11", started("/usr/bin/python3.11", "-m", "pip", "install", "x"), noiseScratch},
		{"/home/dana/.cache/pip/wheels/1", "/usr/bin/python3.11", started("/usr/bin/python3.11", "/usr/bin/pip3", "install", "x"), noiseScratch},
		{"/home/dana/.cache/pip/wheels/1", "/usr/bin/python3.11", started("/usr/bin/python3.11", "/srv/notes/server.py"), ""},
		{"/home/dana/.kube/cache/http/1", "/usr/bin/kubectl", started("/usr/bin/kubectl", "get", "pods"), noiseScratch},
		{"/home/dana/.kube/cache/http/1", "/usr/bin/node", started("/usr/bin/node", "/srv/notes/server.js"), ""},
		{"/home/dana/.kube/config", "/usr/bin/kubectl", started("/usr/bin/kubectl", "config", "view"), ""},
		{"/home/dana/.cache/uv/archive-v0/1", "/usr/bin/uv", started("/usr/bin/uv", "run"), noiseScratch},
		{"/home/dana/go/pkg/mod/x", "/usr/bin/python3", nil, ""},
	} {
		if got, _ := b.writeNoise(c.path, c.exe, c.by); got != c.class {
			t.Errorf("%s by %s: %q, want %q", c.path, c.exe, got, c.class)
		}
	}
}

// Python compiles what it imports. A compiled module whose source nobody opened is something else.
func TestCompiledModulesWithoutTheirSource(t *testing.T) {
	t.Parallel()
	b := builder()
	b.openedAt[pathSum("/home/dana/tools/read.py")] = time.Second
	for path, want := range map[string]bool{
		"/home/dana/tools/__pycache__/read.cpython-311.pyc.12": true, "/home/dana/tools/__pycache__/other.cpython-311.pyc": false,
		"/srv/notes/__pycache__/x.cpython-311.pyc": true, "/home/dana/tools/__pycache__": true, "/usr/lib/python3/__pycache__/x.pyc": true,
	} {
		if got := b.imports(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// An interpreter writes a compiled module beside its place first. Who writes it in place plants it.
func TestCompiledModulesWrittenInPlace(t *testing.T) {
	t.Parallel()
	for name, noise := range map[string]int{"count.cpython-311.pyc": 0, "count.cpython-311.pyc.1234": 1} {
		b := builder()
		p := "/data/scripts/__pycache__/" + name
		r := &trace.Record{Seq: 1, Time: time.Second, Tid: 7, Call: "openat", Op: trace.OpOpen, Path: p, Flags: "O_WRONLY|O_CREAT|O_TRUNC"}
		b.write(r, finding.FileWrite, p, "/usr/bin/python3.11")
		if b.out.Noise != noise {
			t.Errorf("%s: %d ordinary effects, want %d", name, b.out.Noise, noise)
		}
	}
}

func TestInstallers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		argv []string
	}{
		{"crontab -", []string{"crontab", "-"}}, {"crontab tab", []string{"/usr/bin/crontab", "tab"}}, {"", []string{"crontab", "-l"}},
		{"systemctl enable", []string{"systemctl", "--user", "enable", "--now", "x"}}, {"", []string{"systemctl", "status"}}, {"", []string{"cat", "crontab"}}, {"", nil},
		{"at now", []string{"at", "now", "+", "5", "minutes"}}, {"", []string{"code", "x.txt"}}, {"code --add-mcp", []string{"code", "--add-mcp", "{}"}},
	} {
		if got := installer(c.argv); got != c.want {
			t.Errorf("%q: %q, want %q", c.argv, got, c.want)
		}
	}
}

// What is asked for in vain among the system's passwords is no file that merely is not there.
func TestSystemSecretsAreNoNoise(t *testing.T) {
	t.Parallel()
	b := builder()
	b.open(&trace.Record{Op: trace.OpOpen, Call: "openat", Path: "/etc/shadow", Flags: "O_RDONLY", Ret: -1, Err: "ENOENT"})
	if e := b.out.Effects[0]; e.Target != "/etc/shadow" || e.Noise != "" || e.Kind != finding.FileRead {
		t.Errorf("%+v", e)
	}
}
