//go:build linux && e2e

package attacks

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/inplace"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// The outcomes of a case.
const (
	wasHeld  = "held"
	notHeld  = "NOT HELD"
	isBroken = "ERROR" // the attack proves nothing
)

// longest is how long any command may take: a machine may be busy.
const longest = 400 * time.Second

// ordinary is the uid and gid of the user who owns nothing.
const ordinary = 54321

// team is what all cases share: the program under test, and the controls' results.
type team struct {
	coalmine, lib, kept string
	hash                string // of the program, the library, the tests and the image
	dockerGroup         uint32
	mu                  sync.Mutex
	controls            map[string]*control
}

type control struct {
	once sync.Once
	why  string // "" where the deed was done
}

func newTeam(t *testing.T) *team {
	t.Helper()
	h := &team{coalmine: sandboxtest.Build(t, "./cmd/coalmine"), controls: map[string]*control{}}
	t.Cleanup(sandboxtest.CleanUp)
	var err error
	if h.lib, err = filepath.Abs("lib"); err != nil {
		t.Fatal(err)
	}
	if g, err := user.LookupGroup("docker"); err == nil {
		id, _ := strconv.ParseUint(g.Gid, 10, 32)
		h.dockerGroup = uint32(id)
	}
	sum := sha256.New()
	files, _ := filepath.Glob(filepath.Join(h.lib, "*"))
	for _, name := range append(files, h.coalmine, "/proc/self/exe") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = sum.Write(data)
	}
	for _, ask := range [][]string{
		{"docker", "image", "inspect", "--format", "{{.Id}}", "coalmine"}, {"docker", "version", "--format", "{{.Server.Version}}"},
		{"uname", "-r"}, {"strace", "-V"}, {"node", "--version"}, {"npm", "--version"}, {"python3", "--version"}, {"git", "--version"},
	} {
		said, _ := exec.Command(ask[0], ask[1:]...).Output()
		_, _ = sum.Write(said)
	}
	h.hash = hex.EncodeToString(sum.Sum(nil))
	h.kept = sandboxtest.Cache("redteam")
	if err := os.MkdirAll(h.kept, 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// judge runs a case and its control. That the same program held the same case on this machine is
// used again; nothing else is.
func (h *team) judge(t *testing.T, c Case) (verdict, why string) {
	key := sha256.Sum256([]byte(h.hash + c.Hash + c.String()))
	file := filepath.Join(h.kept, hex.EncodeToString(key[:]))
	if data, err := os.ReadFile(file); err == nil && os.Getenv(allEnv) != "" {
		verdict, why, _ = strings.Cut(string(data), "\n")
		return verdict, why
	}
	weight := sandboxtest.Light
	switch {
	case c.Family == "exhaust":
		weight = sandboxtest.Storm
	case c.Backend == "docker" || c.Backend == "inplace":
		weight = sandboxtest.Heavy
	}
	sandboxtest.Acquire(t, weight)
	if why := h.control(t, c.Attack); why != "" {
		return isBroken, "control: " + why
	}
	s := h.newScene(t, c)
	s.attack()
	verdict, why = s.verdict()
	if verdict != wasHeld && os.Getenv("RED_TEAM_SHOW") != "" {
		fmt.Printf("--- %s\n%.6000s\n", c, s.output)
	}
	if verdict == wasHeld {
		_ = os.WriteFile(file, []byte(verdict+"\n"+why), 0o644)
	}
	return verdict, why
}

// control runs an attack without its guard, once.
func (h *team) control(t *testing.T, a *Attack) string {
	h.mu.Lock()
	k := h.controls[a.ID()]
	if k == nil {
		k = &control{}
		h.controls[a.ID()] = k
	}
	h.mu.Unlock()
	k.once.Do(func() {
		s := h.newScene(t, Case{a, Place{"host", "root", "none"}})
		s.control = true
		s.runControl()
		if !s.done() {
			k.why = fmt.Sprintf("the deed was not done: status %d, %.1200q", s.status, s.output)
		} else if !h.newScene(t, Case{a, Place{"host", "root", "none"}}).proves() {
			k.why = "a coalmine that does nothing is said to have reached what is attacked"
		}
	})
	return k.why
}

// scene is the throwaway directory of one run, and what came of it.
type scene struct {
	t       *testing.T
	h       *team
	c       Case
	dir     string // holds server, host, out, home, tmp, web
	secret  string
	proof   string
	token   string
	before  map[string]string // of the directories that must not change
	visits  *listeners
	web     *web
	status  int
	elapsed time.Duration
	peak    int64 // KiB, of the largest process of coalmine; of a control, of the largest of all
	// container is the one that coalmine is the first process of, "" for none.
	container string
	control   bool
	output    string
	findings  []string // titles, messages and rules of findings, codes and texts of gaps
	verdicts  []string
}

func word(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func (h *team) newScene(t *testing.T, c Case) *scene {
	t.Helper()
	dir, err := os.MkdirTemp("", "redteam")
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, h: h, c: c, dir: dir, secret: "plain" + word(12), proof: "deed" + word(12), token: "rt" + word(6)}
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+rwX", dir).Run()
		_ = os.RemoveAll(dir)
	})
	s.must(os.Chmod(dir, 0o755))
	for _, d := range []string{"server", "host/box", "out", "home", "tmp", "web"} {
		s.must(os.MkdirAll(s.at(d), 0o755))
	}
	s.must(os.WriteFile(s.at("host/marker"), []byte("as it was\n"), 0o644))
	s.must(os.WriteFile(s.at("host/box/kept"), []byte("as it was\n"), 0o644))
	s.must(os.WriteFile(s.at("host/secret.txt"), []byte(s.secret+"\n"), 0o600))
	s.visits, err = listen(s.token, s.at("host/sock"))
	s.must(err)
	s.web, err = serveWeb(s.at("web"))
	s.must(err)
	t.Cleanup(func() { s.visits.Close(); s.web.Close() })
	s.layOut()
	return s
}

func (s *scene) at(name string) string { return filepath.Join(s.dir, name) }

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// layOut writes the attack's files and the library, and lets setup.sh do the rest.
func (s *scene) layOut() {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, s.at("host/secret.txt"), 0)
	handle := ""
	if err == nil {
		handle = fmt.Sprintf("%d:%x", h.Type(), h.Bytes())
	}
	words := strings.NewReplacer("@DIR@", s.at("server"), "@HOST@", s.at("host"), "@SECRET@", s.secret, "@PROOF@", s.proof,
		"@FOORP@", backwards(s.proof), "@PORT@", strconv.Itoa(s.visits.port), "@TOKEN@", s.token, "@WEB@", s.at("web"),
		"@WEBPORT@", strconv.Itoa(s.web.port), "@HANDLE@", handle)
	write := func(name string, data []byte) {
		s.must(os.MkdirAll(filepath.Dir(name), 0o755))
		s.must(os.WriteFile(name, []byte(words.Replace(string(data))), 0o755))
	}
	for _, f := range s.c.Files {
		write(s.at(filepath.Join("server", filepath.FromSlash(f.Name))), f.Data)
	}
	libs, err := os.ReadDir(s.h.lib)
	s.must(err)
	for _, l := range libs {
		data, err := os.ReadFile(filepath.Join(s.h.lib, l.Name()))
		s.must(err)
		write(s.at(filepath.Join("lib", l.Name())), data)
		if l.Name() == "mcp.py" && s.c.speaks() {
			write(s.at("server/mcp.py"), data)
		}
	}
	// The attack's own tools are not part of what is attacked with.
	for _, name := range []string{"attack.sh", "control.sh", "deed.sh", "setup.sh"} {
		if s.c.Script(name) != "" {
			s.must(os.Rename(s.at("server/"+name), s.at(name)))
		}
	}
	if s.c.Script("setup.sh") != "" {
		if out, err := s.shell(context.Background(), "setup.sh", nil, nil).CombinedOutput(); err != nil {
			s.t.Fatalf("setup.sh of %s: %v\n%s", s.c.ID(), err, out)
		}
	}
	if s.c.User == "user" {
		s.must(filepath.WalkDir(s.dir, func(p string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(p, ordinary, ordinary)
		}))
	}
	s.before = s.snapshot()
}

// snapshot describes every file of the host's directory and of the server's.
func (s *scene) snapshot() map[string]string {
	out := map[string]string{}
	for _, top := range []string{"host", "server"} {
		_ = filepath.WalkDir(s.at(top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == "__pycache__" {
				return fs.SkipDir
			}
			if d.Type() == fs.ModeSocket || d.Name() == "index" { // docker cp leaves sockets out; git refreshes its index
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			text := info.Mode().String()
			if info.Mode().IsRegular() {
				text += " " + hashOf(p)
			}
			if target, err := os.Readlink(p); err == nil {
				text += " " + target
			}
			out[strings.TrimPrefix(p, s.dir)] = text
			return nil
		})
	}
	return out
}

// hashOf is the hash of a file, which may be larger than the memory.
func hashOf(name string) string {
	sum := sha256.New()
	if f, err := os.Open(name); err == nil {
		_, _ = io.Copy(sum, f)
		_ = f.Close()
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// environment is what scripts see. Nothing of the tester's own gets in.
func (s *scene) environment() []string {
	flags := fmt.Sprintf("--sandbox %s --tracer %s --seed 1 --calls 2 --timeout 25s --call-timeout 8s --out %s %s", s.c.Backend, s.c.Tracer, s.at("out"), s.c.Flags)
	if s.c.Backend == "host" {
		flags = strings.ReplaceAll(flags, "--sandbox host --tracer none", "--sandbox local --tracer strace")
	}
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin", "HOME=" + s.at("home"), "TMPDIR=" + s.at("tmp"),
		"LANG=C.UTF-8", "COALMINE=" + s.at("bin/coalmine"), "FLAGS=" + flags, "DIR=" + s.at("server"), "HOST=" + s.at("host"), "OUT=" + s.at("out"),
		"LIB=" + s.at("lib"), "WEB=" + s.at("web"), "WORK=" + s.dir, "TOKEN=" + s.token, "PROOF=" + s.proof, "SECRET=" + s.secret,
		"PORT=" + strconv.Itoa(s.visits.port), "WEBPORT=" + strconv.Itoa(s.web.port),
		"npm_config_registry=http://127.0.0.1:" + strconv.Itoa(s.web.port) + "/npm/", "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false",
		"PIP_INDEX_URL=http://127.0.0.1:" + strconv.Itoa(s.web.port) + "/pypi/", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1", "PIP_BREAK_SYSTEM_PACKAGES=1",
		"GOPROXY=off", "GOFLAGS=-mod=mod", "GOCACHE=" + s.goCache(), "GOMODCACHE=" + s.at("tmp/gomod"), "GOTOOLCHAIN=local", "NO_PROXY=127.0.0.1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_CONFIG_NOSYSTEM=1",
		"STATUS=" + strconv.Itoa(s.status), "ELAPSED=" + strconv.Itoa(int(s.elapsed.Seconds())), "PEAK=" + strconv.FormatInt(s.peak, 10), "OUTPUT=" + s.at("output"),
	}
}

// goCache is a build cache that all of the same user's scenes share, since the standard
// library takes minutes to compile.
func (s *scene) goCache() string {
	if s.c.User == "user" {
		return s.at("tmp/gocache")
	}
	return filepath.Join(s.h.kept, "go-build")
}

// shell is a script of the attack, in the server's directory.
func (s *scene) shell(ctx context.Context, script string, prefix []string, as *syscall.Credential) *exec.Cmd {
	args := append(slices.Clone(prefix), "/bin/bash", s.at(script))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.at("server"), s.environment(), 3*time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// record runs a command to its end, or to the longest time.
func (s *scene) record(build func(context.Context) *exec.Cmd) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	cmd := build(ctx)
	out := &bounded{left: 32 << 20}
	cmd.Stdout, cmd.Stderr = out, out
	began := time.Now()
	if err := cmd.Start(); err != nil {
		s.output = "it did not start: " + err.Error()
		return
	}
	peak := s.watchMemory(ctx, cmd.Process.Pid)
	_ = cmd.Wait()
	s.elapsed = time.Since(began)
	s.peak = peak()
	s.status = cmd.ProcessState.ExitCode()
	s.output = out.b.String()
	s.must(os.WriteFile(s.at("output"), out.b.Bytes(), 0o644))
}

// bounded keeps the first bytes of what is written to it.
type bounded struct {
	b    bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.b.Write(p[:n])
	b.left -= n
	return len(p), nil
}

// aside gives a control a /tmp of its own, in which the scene is where it was.
const aside = `mount --bind "$WORK" /mnt && mount -t tmpfs none /tmp && mkdir -p "$WORK" && mount --move /mnt "$WORK" && cd "$WORK/server" && exec "$@"`

// runControl does the deed without a guard: in namespaces of its own, over the host's
// files, as their root.
func (s *scene) runControl() {
	namespaces := []string{"unshare", "-mpfiu", "--mount-proc", "--kill-child"}
	if s.c.IsServer() && !s.c.HostNet {
		namespaces = append(namespaces, "-n")
	}
	namespaces = append(namespaces, "sh", "-c", aside, "sh")
	if s.c.Script("control.sh") == "" {
		s.must(os.WriteFile(s.at("control.sh"), []byte("exec python3 $LIB/drive.py python3 $DIR/server.py\n"), 0o755))
	}
	s.program()
	s.record(func(ctx context.Context) *exec.Cmd { return s.shell(ctx, "control.sh", namespaces, nil) })
}

// program puts coalmine where this scene's user can run it.
func (s *scene) program() {
	s.must(os.MkdirAll(s.at("bin"), 0o755))
	data, err := os.ReadFile(s.h.coalmine)
	s.must(err)
	sandboxtest.WriteProgram(s.t, s.at("bin/coalmine"), data)
}

// attack runs coalmine on the attack.
func (s *scene) attack() {
	if s.c.Backend == "inplace" {
		s.inContainer()
	} else {
		s.program()
		if s.c.IsServer() {
			s.must(os.WriteFile(s.at("attack.sh"), []byte("exec $COALMINE probe $FLAGS -- python3 $DIR/server.py\n"), 0o755))
		}
		var as *syscall.Credential
		if s.c.User == "user" {
			as = &syscall.Credential{Uid: ordinary, Gid: ordinary}
			if s.c.Backend == "docker" {
				as.Groups = []uint32{s.h.dockerGroup}
			}
		}
		s.run(as)
	}
	s.readReports()
}

func (s *scene) run(as *syscall.Credential) {
	s.record(func(ctx context.Context) *exec.Cmd { return s.shell(ctx, "attack.sh", nil, as) })
}

// inContainer runs coalmine as the first process of a container, which holds a copy of
// the scene and gives it back.
func (s *scene) inContainer() {
	s.program()
	docker := func(args ...string) string {
		out, err := exec.Command("docker", args...).CombinedOutput()
		if err != nil {
			s.t.Fatalf("docker %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	flags := strings.Fields("probe --sandbox inplace --tracer strace --seed 1 --calls 2 --timeout 25s --call-timeout 8s --out " + s.at("out") + " " + s.c.Flags)
	// The options are those that README.md and the hint give.
	options, _, _ := strings.Cut(strings.TrimPrefix(inplace.Command, "docker run --rm "), " coalmine")
	id := docker(slices.Concat([]string{"create"}, strings.Fields(options),
		[]string{"--label", "redteam=" + s.token, "--entrypoint", s.at("bin/coalmine"), "coalmine"}, flags, []string{"--", "python3", s.at("server/server.py")})...)
	defer func() { _ = exec.Command("docker", "rm", "-fv", id).Run() }()
	s.container = id
	docker("cp", "-a", s.dir, id+":"+filepath.Dir(s.dir))
	s.record(func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "docker", "start", "-a", id) })
	// What the container's host would find: the directories come back as they are now.
	for _, d := range []string{"host", "server", "out"} {
		s.must(os.RemoveAll(s.at(d)))
		docker("cp", "-a", id+":"+s.at(d), s.at(d))
	}
}

// readReports takes the verdicts, findings and gaps from every report of the run.
func (s *scene) readReports() {
	_ = filepath.WalkDir(s.at("out"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "report.json" || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return nil
		}
		var r struct {
			Verdict      string
			Findings     []struct{ Rule, Severity, Title, Message string }
			Gaps         []struct{ Code, Text, Tool string }
			Inconclusive []string
		}
		if err := json.Unmarshal(data, &r); err != nil {
			s.t.Errorf("%s: %v", p, err)
		}
		s.verdicts = append(s.verdicts, r.Verdict)
		for _, f := range r.Findings {
			s.findings = append(s.findings, strings.Join([]string{f.Rule, f.Severity, f.Title, f.Message}, " "))
		}
		for _, g := range r.Gaps {
			s.findings = append(s.findings, "gap "+g.Code+" "+g.Text)
		}
		return nil
	})
}
