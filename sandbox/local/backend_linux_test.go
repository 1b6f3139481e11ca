//go:build linux && e2e

package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

const (
	// ordinary is the user that the tests of an ordinary user's sandbox run as.
	ordinary = 64124
	// fixtures names the directory of programs that root built for that user.
	fixtures = "LOCAL_TEST_FIXTURES"
	// orphan makes the test program start a sandbox, say its pid, and wait to be killed.
	orphan   = "LOCAL_TEST_ORPHAN"
	within30 = 30 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(orphan) != "" {
		beOrphaned()
	}
	code := m.Run()
	sandboxtest.CleanUp()
	os.Exit(code)
}

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within30)
	t.Cleanup(cancel)
	return ctx
}

// spec runs a command as the decoy user.
func spec(command ...string) sandbox.Spec {
	return sandbox.Spec{
		Command: command, Env: []string{"PATH=/usr/bin:/bin", "HOME=/home/alice", "LANG=C.UTF-8"}, Hostname: "workbench",
		User:  agent.User{Name: "alice", UID: 1000, GID: 1000, Home: "/home/alice"},
		Files: []rootfs.File{{Path: "/home/alice/.ssh/id_rsa", Data: []byte("decoy key\n"), Mode: 0o600}},
		RunID: "test",
	}
}

// result is what a command's run came to.
type result struct {
	out, err string
	exit     sandbox.Exit
	rec      *sandboxtest.Recorder
}

// run runs a spec to its end.
func run(t testing.TB, s sandbox.Spec) result {
	t.Helper()
	sandboxtest.Need(t, "userns")
	rec := sandboxtest.NewRecorder()
	r, err := sandbox.Start(bounded(t), New(), s, rec)
	if err != nil {
		t.Fatalf("%v", err)
	}
	exit, err := r.Wait(bounded(t))
	if err != nil {
		t.Errorf("wait: %v", err)
	}
	if err := r.Close(bounded(t)); err != nil {
		t.Errorf("close: %v", err)
	}
	return result{rec.Out(), rec.Err(), exit, rec}
}

func shell(t testing.TB, script string) result {
	t.Helper()
	return run(t, spec("sh", "-c", script))
}

// public is a directory that an ordinary user reaches and owns.
func public(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "local-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// TestAsAnOrdinaryUser runs this package's other tests as one.
func TestAsAnOrdinaryUser(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	if os.Getenv(fixtures) != "" {
		t.Skip("these are the ordinary user's tests")
	}
	sandboxtest.Need(t, "root", "userns")
	dir := public(t)
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "tests"), self, 0o755))
	for _, name := range []string{"honest", "leaky", "hostile"} {
		program, err := os.ReadFile(sandboxtest.Build(t, "./testdata/servers/"+name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), program, 0o755))
		for _, suffix := range []string{".py", ".mjs"} {
			if name == "hostile" {
				continue
			}
			script, err := os.ReadFile(filepath.Join(sandboxtest.ModuleRoot(t), "testdata/servers", name, name+suffix))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, name+suffix), script, 0o644))
		}
	}
	home := filepath.Join(dir, "home")
	must(t, os.Mkdir(home, 0o755))
	must(t, os.Chown(home, ordinary, ordinary))
	cmd := exec.Command(filepath.Join(dir, "tests"), "-test.v", "-test.timeout=120s")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "PATH=/usr/local/bin:/usr/bin:/bin", fixtures+"="+dir, slots.HeldEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// fixture is a program or script among the twins.
func fixture(t testing.TB, name, suffix string) string {
	t.Helper()
	if dir := os.Getenv(fixtures); dir != "" {
		return filepath.Join(dir, name+suffix)
	}
	if suffix == "" && os.Getuid() != 0 {
		// Nothing may be built where nobody reads the module.
		sandboxtest.Need(t, "go")
	}
	if suffix == "" {
		return sandboxtest.Build(t, "./testdata/servers/"+name)
	}
	return filepath.Join(sandboxtest.ModuleRoot(t), "testdata/servers", name, name+suffix)
}

func TestTheHostIsOutOfReach(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	secret := filepath.Join(public(t), "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o644))
	home, err := os.UserHomeDir()
	must(t, err)
	r := shell(t, `for f in /etc/shadow /var/run/docker.sock /run/docker.sock /sys /old /.dockerenv `+secret+` `+home+`/.bashrc `+home+`/.npmrc /etc/gitconfig /etc/environment; do
		if [ -e "$f" ]; then echo "there: $f"; fi; done
		for d in /root /home /var/tmp /tmp /opt /srv /mnt; do echo "$d:" $(ls -A $d 2>/dev/null); done
		ls -d /proc/[0-9]*; cat /proc/1/environ /proc/1/cmdline 2>&1 | tr '\0' ' '; for f in /proc/1/root /proc/1/cwd /proc/1/exe; do readlink $f; done`)
	if strings.Contains(r.out, "there:") || strings.Contains(r.out, "secret") {
		t.Errorf("%s", r.out)
	}
	for _, want := range []string{"/root:\n", "/home: alice\n", "/var/tmp:\n", "/tmp:\n", "/opt:\n", "/srv:\n", "/mnt:\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
}

func TestTheUserIsTheDecoy(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	r := shell(t, `id -un; id -u; echo ~; cat ~/.ssh/id_rsa; stat -c %U:%a ~/.ssh/id_rsa; hostname; pwd; touch ~/new /tmp/new /var/tmp/new && echo wrote; cat /etc/hostname; getent hosts workbench`)
	want := "alice\n1000\n/home/alice\ndecoy key\nalice:600\nworkbench\n/home/alice\nwrote\nworkbench\n127.0.1.1       workbench\n"
	if r.out != want || r.err != "" || r.exit.Code != 0 {
		t.Errorf("out %q\nwant %q\nerr %q", r.out, want, r.err)
	}
}

func TestNothingButLoopback(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	r := shell(t, `cat /proc/net/dev | tail -n +3 | cut -d: -f1; cat /proc/net/route | wc -l`)
	if strings.Join(strings.Fields(r.out), " ") != "lo 1" {
		t.Errorf("interfaces %q", r.out)
	}
}

// TestInterface: with a sinkhole there is an interface beside the loopback, whose gateway
// is the name server.
func TestInterface(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	s := spec("sh", "-c", "cat /proc/net/dev /proc/net/route /etc/resolv.conf")
	s.Network = &agent.Network{Sinkhole: sinkhole.Config{Interface: "eth0"}}
	r := run(t, s)
	for _, want := range []string{"eth0:", "eth0\t00000000\t0101A8C0", "nameserver 192.168.1.1\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s\n%s", want, r.out, r.err)
		}
	}
}

func TestSystemIsReadOnly(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	r := shell(t, `for p in /x /usr/x /usr/bin/x /etc/x /etc/passwd /etc/ssl/x /lib/x /home/x /dev/x /var/x /proc/sys/kernel/hostname /proc/sysrq-trigger; do
		(echo changed > $p) 2>/dev/null && echo "wrote $p"; done; chmod 777 /dev/null 2>/dev/null && echo chmod; mount -t tmpfs x /tmp 2>/dev/null && echo mounted
		echo x > /dev/null && echo done; ls /etc/ssl/certs >/dev/null && cat /proc/kcore | wc -c; true`)
	if r.out != "done\n0\n" && r.out != "done\n" {
		t.Errorf("%s", r.out)
	}
}

// serverTree is a server's directory with a user's credentials in it.
func serverTree(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(public(t), "server")
	for name, text := range map[string]string{
		"main.sh": "#!/bin/sh\necho started\n", ".env": "TOKEN=real", "sub/.env.local": "TOKEN=real", "private/key.txt": "readable",
		".git/config": "[core]\n\tbare = false\n[remote \"o\"]\n\turl = https://real@h/x\n", ".npmrc": "real", "keep": "kept",
	} {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	must(t, os.Chmod(filepath.Join(dir, "main.sh"), 0o755))
	must(t, os.Chmod(filepath.Join(dir, "private/key.txt"), 0o600))
	must(t, os.Chmod(filepath.Join(dir, "private"), 0o700))
	return dir
}

func TestServerDirectory(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := serverTree(t)
	s := spec("sh", "-c", `cat keep private/key.txt .npmrc; cat .env; grep -r real . ; ls -d .git 2>/dev/null; echo more > keep; echo new > sub/new; mkdir made; rm -r private; ls; ls ..; ls /data /data/sub; touch /data/sub/x && echo wrote`)
	s.ServerDir, s.Dir = dir, dir
	s.Workspaces = []string{"/data/sub", dir}
	s.Files = append(s.Files, rootfs.File{Path: filepath.Join(dir, ".env"), Data: []byte("decoy\n"), Mode: 0o644})
	r := run(t, s)
	want := "keptreadabledecoy\nkeep\nmade\nmain.sh\nsub\nserver\n/data:\nsub\n\n/data/sub:\nwrote\n"
	got := strings.ReplaceAll(strings.ReplaceAll(r.out, "url = ", ""), "\thttps", "https")
	if got != want || strings.Contains(r.err, "denied") {
		t.Errorf("out %q\nwant %q\nerr %s", got, want, r.err)
	}
	for name, text := range map[string]string{"keep": "kept", ".env": "TOKEN=real", "private/key.txt": "readable"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
			t.Errorf("the host's %s: %q %v", name, b, err)
		}
	}
	for _, name := range []string{"made", "sub/new"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s reached the host", name)
		}
	}
}

func TestADecoyNeverReplacesADirectory(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := serverTree(t)
	must(t, os.MkdirAll(filepath.Join(dir, "env.d/bin"), 0o755))
	s := spec("ls", filepath.Join(dir, "env.d"))
	s.ServerDir = dir
	s.Files = append(s.Files, rootfs.File{Path: filepath.Join(dir, "env.d"), Data: []byte("decoy")})
	if r := run(t, s); r.out != "bin\n" {
		t.Errorf("%+v", r)
	}
}

func TestKeyringIsFresh(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	r := shell(t, `cat /proc/keys /proc/key-users | wc -l`)
	if r.out != "0\n" {
		t.Errorf("keys are listed: %q", r.out)
	}
}

func TestServerFileAlone(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := serverTree(t)
	s := spec(filepath.Join(dir, "main.sh"))
	s.ServerDir = filepath.Join(dir, "main.sh")
	r := run(t, s)
	if r.out != "started\n" {
		t.Errorf("%+v", r)
	}
	s = spec("ls", "-A", dir)
	s.ServerDir = filepath.Join(dir, "main.sh")
	if r := run(t, s); r.out != "main.sh\n" {
		t.Errorf("neighbours are shown: %q", r.out)
	}
}

func TestLinkedServerDirectory(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := serverTree(t)
	link := filepath.Join(filepath.Dir(dir), "current")
	must(t, os.Symlink("server", link))
	s := spec(filepath.Join(link, "main.sh"))
	s.ServerDir = link
	if r := run(t, s); r.out != "started\n" {
		t.Errorf("%+v", r)
	}
}

func TestErrorsOfUse(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	dir := serverTree(t)
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		want   string
	}{
		"not found":      {func(s *sandbox.Spec) { s.Command = []string{"no-such-command"} }, "command not found: no-such-command"},
		"not executable": {func(s *sandbox.Spec) { s.Command = []string{filepath.Join(dir, "keep")} }, "is not executable"},
		"too wide":       {func(s *sandbox.Spec) { s.ServerDir = "/home" }, "holds more than the server"},
		"no directory":   {func(s *sandbox.Spec) { s.ServerDir = "/no/such/server" }, "no such file"},
		"empty":          {func(s *sandbox.Spec) { s.Command = []string{""} }, "no command"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec("true")
			c.change(&s)
			_, err := sandbox.Start(bounded(t), New(), s, sandboxtest.NewRecorder())
			var usage *sandbox.UsageError
			if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestNoStrace(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	_, err := findStrace(host{path: nil})
	if err != nil {
		var usage *sandbox.UsageError
		if !errors.As(err, &usage) || usage.Hint != "apt-get install strace" {
			t.Errorf("%v", err)
		}
		return
	}
	sandboxtest.Need(t, "strace")
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"

// answers starts a server and asks it to introduce itself.
func answers(t testing.TB, command ...string) (started time.Duration) {
	t.Helper()
	sandboxtest.Need(t, "userns", "strace")
	s := spec(command...)
	s.ServerDir, s.Workspaces = sandbox.ServerDir("", command, exec.LookPath)
	s.TraceSet = "core"
	rec := sandboxtest.NewRecorder()
	begin := time.Now()
	r, err := sandbox.Start(bounded(t), New(), s, rec)
	if err != nil {
		t.Fatal(err)
	}
	started = time.Since(begin)
	defer func() {
		if err := r.Close(bounded(t)); err != nil {
			t.Error(err)
		}
	}()
	must(t, r.Stdin([]byte(hello)))
	if !rec.Until(within30, func() bool { return strings.Contains(rec.Out(), "\n") }) || !strings.Contains(rec.Out(), `"serverInfo"`) {
		t.Fatalf("out %q err %q events %+v", rec.Out(), rec.Err(), rec.Events())
	}
	if !rec.Until(within30, func() bool { return len(rec.Records()) > 0 }) {
		t.Error("nothing was traced")
	}
	return started
}

func TestServersStart(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	t.Run("go", func(t *testing.T) { t.Logf("started in %v", answers(t, fixture(t, "honest", ""))) })
	t.Run("node", func(t *testing.T) {
		sandboxtest.Need(t, "node")
		t.Logf("started in %v", answers(t, "node", fixture(t, "honest", ".mjs")))
	})
	t.Run("python", func(t *testing.T) {
		sandboxtest.Need(t, "python3")
		t.Logf("started in %v", answers(t, "python3", fixture(t, "honest", ".py")))
	})
	t.Run("system python", func(t *testing.T) {
		sandboxtest.Need(t, "/usr/bin/python3")
		t.Logf("started in %v", answers(t, "/usr/bin/python3", fixture(t, "honest", ".py")))
	})
	t.Run("venv", func(t *testing.T) {
		sandboxtest.Need(t, "python3")
		env := filepath.Join(public(t), "venv")
		if out, err := exec.Command("python3", "-m", "venv", "--without-pip", env).CombinedOutput(); err != nil {
			t.Skipf("python makes no virtual environment: %v\n%s", err, out)
		}
		answers(t, filepath.Join(env, "bin/python3"), fixture(t, "honest", ".py"))
		r := run(t, spec(filepath.Join(env, "bin/python3"), "-c", "import sys; print(sys.prefix, sys.prefix != sys.base_prefix)"))
		if r.out != env+" True\n" {
			t.Errorf("%+v", r)
		}
	})
}

func TestLeakyReadsTheDecoy(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	s := spec(fixture(t, "leaky", ""))
	s.ServerDir, _ = sandbox.ServerDir("", s.Command, exec.LookPath)
	s.Watch = []string{"/home/alice/.ssh/id_rsa"}
	rec := sandboxtest.NewRecorder()
	r, err := sandbox.Start(bounded(t), New(), s, rec)
	must(t, err)
	defer func() { _ = r.Close(bounded(t)) }()
	must(t, r.Stdin([]byte(hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"format_note","arguments":{"text":"x","note":"x"}}}`+"\n")))
	if !rec.Until(within30, func() bool { return len(sandboxtest.EventsOf[session.EventAccess](rec)) > 0 }) {
		t.Errorf("no access was seen: out %q err %q", rec.Out(), rec.Err())
	}
}

func TestSupported(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns", "strace")
	s := New().Supported(bounded(t))
	if s.OK != sandbox.Yes {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if s := New().Supported(ctx); s.OK != sandbox.Unknown {
		t.Errorf("without time: %+v", s)
	}
}

func TestCancelledStart(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New().Start(ctx, spec("true")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What is shown comes from another directory of the host: its interpreter is
// found by the link in it, and the host's path is nowhere inside. The script
// leaves by exit: a shell that reads on would run the line which it appended.
func TestServerFromElsewhere(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	from := public(t)
	must(t, os.MkdirAll(filepath.Join(from, "bin"), 0o755))
	must(t, os.Symlink("/bin/sh", filepath.Join(from, "bin", "shell")))
	must(t, os.WriteFile(filepath.Join(from, "server"), []byte("#!/home/alice/.cache/app/1/bin/shell\ncat /home/alice/.cache/app/1/note; echo more >>\"$0\"; pwd; tail -n 1 \"$0\"; cat /proc/mounts; exit\n"), 0o755))
	must(t, os.WriteFile(filepath.Join(from, "note"), []byte("noted\n"), 0o644))
	s := spec("/home/alice/.cache/app/1/server")
	s.ServerDir, s.ServerFrom, s.Dir = "/home/alice/.cache/app/1", from, "/home/alice/.cache/app/1"
	got := run(t, s)
	lines := strings.SplitN(got.out, "\n", 4)
	if len(lines) < 4 || lines[0] != "noted" || lines[1] != s.Dir || lines[2] != "more" {
		t.Errorf("%q %q %+v", got.out, got.err, got.exit)
	}
	if strings.Contains(got.out, from) {
		t.Error("the mounts name the host's directory:\n" + got.out)
	}
	text, err := os.ReadFile(filepath.Join(from, "server"))
	must(t, err)
	if strings.HasSuffix(string(text), "more\n") {
		t.Error("the host's file was written to")
	}
}

// Nothing that is a secret can be read in the sandbox, however deep it lies; what is beside
// it is there, and the host's files stay as they are.
func TestNoSecretInTheSandbox(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	sandboxtest.Need(t, "userns")
	dir := filepath.Join(public(t), "server")
	sandboxtest.PlantSecrets(t, dir)
	s := spec("sh", "-c", sandboxtest.FindSecrets, dir)
	s.ServerDir = dir
	if r := run(t, s); r.out != sandboxtest.NoSecrets {
		t.Errorf("got\n%s\nwant\n%s\n%+v", r.out, sandboxtest.NoSecrets, r)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "src/token.ts")); err != nil || !strings.Contains(string(text), "ghp_") {
		t.Errorf("on the host: %q, %v", text, err)
	}
}

// Each file system has its bound, and all of them together have twice that.
func TestDisksTogetherAreBounded(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Light)
	s := spec("sh", "-c", "for d in /tmp /var/tmp ~; do head -c 8M /dev/zero >$d/big; done; sleep 1000")
	s.Limits = agent.Limits{Disk: 4 << 20}
	r := run(t, s)
	if limits := sandboxtest.EventsOf[session.EventLimit](r.rec); len(limits) != 1 || !strings.HasPrefix(r.exit.Reason, "limit: disk") {
		t.Errorf("exit %+v, events %+v", r.exit, r.rec.Events())
	}
}
