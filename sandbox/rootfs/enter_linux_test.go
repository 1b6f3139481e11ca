//go:build linux && e2e

package rootfs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// The test binary plays three parts: the test; the launcher, an ordinary user
// who starts namespaces; and the inside, which enters a layout and looks around.
const (
	partVariable = "ROOTFS_TEST_PART"
	nobody       = 64123
	inner        = 1000
)

// order is what the inside is told to do.
type order struct {
	Layout   Layout
	UID, GID int
	// Drop makes the looking around happen as UID without capabilities.
	Drop  bool
	Looks []look
}

// look is one thing to try inside: "read", "write", "list", "mkdir", "stat", "chmod".
type look struct{ Op, Path string }

// sight is what came of it.
type sight struct {
	Text string
	Err  string
	UID  int
	Mode uint32
}

type answer struct {
	Err    string
	Sights []sight
}

func TestMain(m *testing.M) {
	switch os.Getenv(partVariable) {
	case "launch":
		out, err := namespaces(mapOne(), os.Stdin)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = os.Stdout.Write(out)
		return
	case "inside":
		_ = json.NewEncoder(os.Stdout).Encode(inside())
		return
	}
	os.Exit(m.Run())
}

func inside() answer {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return answer{Err: err.Error()}
	}
	if err := Enter(o.Layout, o.UID, o.GID); err != nil {
		return answer{Err: err.Error()}
	}
	if o.Drop {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(o.GID), syscall.Setuid(o.UID)); err != nil {
			return answer{Err: err.Error()}
		}
	}
	var a answer
	for _, l := range o.Looks {
		a.Sights = append(a.Sights, l.do())
	}
	return a
}

func (l look) do() sight {
	var s sight
	var err error
	switch l.Op {
	case "read":
		var b []byte
		b, err = readSome(l.Path)
		s.Text = string(b)
	case "write":
		err = os.WriteFile(l.Path, []byte("changed"), 0o644)
	case "mkdir":
		err = os.Mkdir(l.Path, 0o755)
	case "remove":
		err = os.RemoveAll(l.Path)
	case "chmod":
		err = os.Chmod(l.Path, 0o777)
	case "mount":
		err = unix.Mount("", l.Path, "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "link":
		s.Text, err = os.Readlink(l.Path)
	case "list":
		var entries []os.DirEntry
		entries, err = os.ReadDir(l.Path)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		s.Text = strings.Join(names, " ")
	}
	if err != nil {
		s.Err = err.Error()
	}
	var st unix.Stat_t
	if unix.Lstat(l.Path, &st) == nil {
		s.UID, s.Mode = int(st.Uid), st.Mode
	}
	return s
}

func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, 1<<20))
}

type idMap []syscall.SysProcIDMap

func mapOne() idMap { return idMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}} }

// mapSwapped is root's map: everything as it is, but for the inner uid.
func mapSwapped() idMap {
	const high = 1_999_999_999
	return idMap{
		{ContainerID: 0, HostID: 0, Size: inner},
		{ContainerID: inner, HostID: high, Size: 1},
		{ContainerID: inner + 1, HostID: inner + 1, Size: high - inner - 1},
		{ContainerID: high, HostID: inner, Size: 1},
	}
}

// namespaces runs the inside in fresh namespaces.
func namespaces(m idMap, in io.Reader) ([]byte, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{partVariable + "=inside"}
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET,
		UidMappings: m, GidMappings: m, GidMappingsEnableSetgroups: os.Getuid() == 0,
		Pdeathsig: syscall.SIGKILL,
	}
	return cmd.Output()
}

// user is one who may start a sandbox.
type user struct {
	name string
	// run carries out an order as that user.
	run func(t *testing.T, o order) answer
	// uid is the target's, inside and, for the files made for the test, outside.
	uid, outside int
}

func users(t *testing.T) []user {
	t.Helper()
	if os.Getuid() != 0 {
		return []user{{name: "ordinary", uid: 0, outside: os.Getuid(), run: func(t *testing.T, o order) answer {
			return decode(t, func(in io.Reader) ([]byte, error) { return namespaces(mapOne(), in) }, o)
		}}}
	}
	return []user{
		{name: "root", uid: inner, outside: 0, run: func(t *testing.T, o order) answer {
			o.Drop = true
			return decode(t, func(in io.Reader) ([]byte, error) { return namespaces(mapSwapped(), in) }, o)
		}},
		{name: "ordinary", uid: 0, outside: nobody, run: func(t *testing.T, o order) answer {
			return decode(t, func(in io.Reader) ([]byte, error) { return launch(t, in) }, o)
		}},
	}
}

func decode(t *testing.T, start func(io.Reader) ([]byte, error), o order) answer {
	t.Helper()
	in, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := start(bytes.NewReader(in))
	var a answer
	if err == nil {
		err = json.Unmarshal(out, &a)
	}
	if err != nil {
		t.Fatalf("inside: %v\n%s", err, out)
	}
	return a
}

// launch runs a copy of the test binary as an ordinary user.
func launch(t *testing.T, in io.Reader) ([]byte, error) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(place(t), "test-binary")
	if err := os.WriteFile(path, self, 0o755); err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Dir = "/"
	cmd.Env = []string{partVariable + "=launch"}
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd.Output()
}

// place is a directory that an ordinary user reaches, unlike t.TempDir's.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "rootfs-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree makes a server's directory owned by uid: a script, a private file, links
// that lead out, and a subdirectory.
func tree(t *testing.T, uid int) string {
	t.Helper()
	root := filepath.Join(place(t), "a:b,c", "server")
	for _, dir := range []string{"sub/deep", "private"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for name, mode := range map[string]os.FileMode{"main.js": 0o644, "sub/deep/x": 0o644, "private/key": 0o600, ".env": 0o644} {
		must(t, os.WriteFile(filepath.Join(root, name), []byte("host "+name), mode))
	}
	must(t, os.Symlink("/etc", filepath.Join(root, "out")))
	must(t, os.Symlink("/etc/shadow", filepath.Join(root, "linked.env")))
	must(t, os.Chmod(filepath.Join(root, "private"), 0o700))
	must(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, uid, uid))
	}))
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plain is a layout like the local backend's.
func plain(server string, copied bool) Layout {
	return Layout{
		Size: 16 << 20,
		Binds: []Bind{
			{Source: "/usr", Target: "/usr", ReadOnly: true},
			{Source: "/etc/ssl", Target: "/etc/ssl", ReadOnly: true, Optional: true},
			{Source: "/etc/no-such-thing", Target: "/etc/no-such-thing", ReadOnly: true, Optional: true},
			{Source: "/etc/hostname", Target: "/etc/bound", ReadOnly: true},
		},
		Overlays: []Overlay{{Lower: server, Target: server, Own: true, Copy: copied}},
		Tmpfs: []Tmpfs{
			{Target: "/home/alice", Size: 8 << 20, Mode: 0o750, Own: true},
			{Target: "/tmp", Size: 8 << 20, Mode: 0o1777},
		},
	}
}

func (u user) look(t *testing.T, l Layout, looks ...look) []sight {
	t.Helper()
	a := u.run(t, order{Layout: l, UID: u.uid, GID: u.uid, Looks: looks})
	if a.Err != "" {
		t.Fatalf("enter: %s", a.Err)
	}
	return a.Sights
}

// each runs a test as every user, with an overlay and with a copy.
func each(t *testing.T, test func(t *testing.T, u user, l Layout, server string)) {
	t.Helper()
	for _, u := range users(t) {
		for _, copied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/copy=%v", u.name, copied), func(t *testing.T) {
				server := tree(t, u.outside)
				test(t, u, plain(server, copied), server)
			})
		}
	}
}

func TestNothingOfTheHostIsWritable(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		var looks []look
		for _, path := range []string{"/usr/x", "/usr/bin/env", "/x", "/etc/x", "/etc/bound", "/etc/ssl/x", "/dev/x", "/home/x", "/var/x"} {
			looks = append(looks, look{"write", path})
		}
		looks = append(looks, look{"chmod", "/usr/bin/env"}, look{"chmod", "/dev/null"}, look{"chmod", "/etc/bound"})
		for i, s := range u.look(t, l, looks...) {
			if s.Err == "" {
				t.Errorf("%s %s: no error", looks[i].Op, looks[i].Path)
			}
		}
		for _, s := range u.look(t, l, look{"write", "/dev/null"}, look{"write", "/tmp/x"}, look{"write", "/home/alice/x"}, look{"write", "/dev/shm/x"}) {
			if s.Err != "" {
				t.Error(s.Err)
			}
		}
	})
}

func TestTheOldRootIsGone(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		secret := filepath.Join(filepath.Dir(server), "secret")
		must(t, os.WriteFile(secret, []byte("secret"), 0o644))
		sights := u.look(t, l, look{"list", "/"}, look{"read", "/proc/self/mountinfo"}, look{"list", "/proc/self/cwd"}, look{"read", secret}, look{"list", "/var/tmp"})
		if want := "dev etc home proc tmp usr var"; sights[0].Text != want {
			t.Errorf("/ holds %q, want %q", sights[0].Text, want)
		}
		if sights[2].Text != sights[0].Text {
			t.Errorf("the working directory is %q", sights[2].Text)
		}
		if sights[3].Err == "" {
			t.Error("a neighbour of the server's directory is readable")
		}
		for line := range strings.Lines(sights[1].Text) {
			if f := strings.Fields(line); len(f) > 4 && !slices.Contains([]string{"/", "/usr", "/etc/ssl", "/etc/bound", "/home/alice", "/tmp", "/proc", server}, unescape(f[4])) && !strings.HasPrefix(f[4], "/dev") {
				t.Errorf("a mount that nobody asked for: %s", line)
			}
		}
	})
}

func unescape(s string) string { return strings.NewReplacer(`\040`, " ", `\054`, ",").Replace(s) }

func TestOverlayKeepsWritesFromTheHost(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		in := func(name string) string { return filepath.Join(server, name) }
		before := snapshot(t, server)
		l.Files = []File{{Path: in(".env"), Data: []byte("decoy"), Mode: 0o600}, {Path: in("linked.env"), Data: []byte("decoy")}}
		sights := u.look(t, l,
			look{"read", in("main.js")}, look{"read", in("private/key")}, look{"read", in("sub/deep/x")},
			look{"write", in("new")}, look{"write", in("sub/deep/new")}, look{"mkdir", in("sub/made")},
			look{"read", in(".env")}, look{"read", in("linked.env")}, look{"remove", in("sub")})
		for i, s := range sights {
			if s.Err != "" {
				t.Errorf("%d: %s", i, s.Err)
			}
		}
		if sights[0].Text != "host main.js" || sights[1].Text != "host private/key" || sights[6].Text != "decoy" || sights[7].Text != "decoy" {
			t.Errorf("read %+v", sights)
		}
		if after := snapshot(t, server); after != before {
			t.Errorf("the host's tree changed:\n%s\n%s", before, after)
		}
	})
}

func snapshot(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		fmt.Fprintln(&b, path, st.Mode, st.Uid, st.Gid, st.Mtim)
		return nil
	}))
	return b.String()
}

func TestFilesNeverFollowALinkOut(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		// "out" leads to /etc: inside, that is the sandbox's own.
		l.Files = []File{{Path: filepath.Join(server, "out/planted"), Data: []byte("x"), Root: true}}
		s := u.look(t, l, look{"read", "/etc/planted"})
		if s[0].Text != "x" {
			t.Errorf("not planted inside: %+v", s[0])
		}
		if _, err := os.Lstat("/etc/planted"); err == nil {
			_ = os.Remove("/etc/planted")
			t.Fatal("a link of the server's directory led to the host")
		}
	})
}

func TestPlantedFiles(t *testing.T) {
	slots.Acquire(t, 1)
	when := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		l.Files = []File{
			{Path: "/home/alice/.ssh", Dir: true, Mode: 0o700, ModTime: when},
			{Path: "/home/alice/.ssh/id_rsa", Data: []byte("key"), Mode: 0o600, ModTime: when},
			{Path: "/home/alice/.config/a/b", Data: []byte("b")},
			{Path: "/etc/passwd", Data: []byte("root"), Root: true, Mode: 0o644},
			{Path: "/bin", Link: "usr/bin", Root: true},
		}
		s := u.look(t, l, look{"read", "/home/alice/.ssh/id_rsa"}, look{"list", "/home/alice/.ssh"}, look{"list", "/home/alice/.config/a"}, look{"read", "/etc/passwd"}, look{"link", "/bin"})
		for i, want := range []sight{
			{Text: "key", UID: u.uid, Mode: unix.S_IFREG | 0o600},
			{Text: "id_rsa", UID: u.uid, Mode: unix.S_IFDIR | 0o700},
			{Text: "b", UID: u.uid, Mode: unix.S_IFDIR | 0o755},
			{Text: "root", UID: 0, Mode: unix.S_IFREG | 0o644},
			{Text: "usr/bin", UID: 0, Mode: unix.S_IFLNK | 0o777},
		} {
			if s[i] != want {
				t.Errorf("%d: %+v, want %+v", i, s[i], want)
			}
		}
	})
}

func TestMasks(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		l.Masks = []string{filepath.Join(server, "sub"), filepath.Join(server, "main.js"), "/usr/bin/env", "/no/such"}
		s := u.look(t, l, look{"list", l.Masks[0]}, look{"read", l.Masks[1]}, look{"read", l.Masks[2]}, look{"list", "/"})
		for i := range 3 {
			if s[i].Text != "" || s[i].Err != "" {
				t.Errorf("%s: %+v", l.Masks[i], s[i])
			}
		}
		if strings.Contains(s[3].Text, "empty") {
			t.Error("the mask's own file is left")
		}
	})
}

func TestDevices(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, _ string) {
		s := u.look(t, l, look{"list", "/dev"}, look{"read", "/dev/null"}, look{"link", "/dev/ptmx"}, look{"list", "/sys"})
		if want := "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero"; s[0].Text != want {
			t.Errorf("/dev holds %q", s[0].Text)
		}
		if s[1].Err != "" || s[2].Text != "pts/ptmx" || s[3].Err == "" {
			t.Errorf("%+v", s[1:])
		}
	})
}

func TestLimitsOfSize(t *testing.T) {
	slots.Acquire(t, 1)
	each(t, func(t *testing.T, u user, l Layout, server string) {
		l.Overlays[0].Size = 64 << 10
		l.Files = []File{{Path: filepath.Join(server, "big"), Data: make([]byte, 128<<10)}}
		a := u.run(t, order{Layout: l, UID: u.uid, GID: u.uid})
		if !strings.Contains(a.Err, "no space") && !strings.Contains(a.Err, "more than") {
			t.Errorf("more than fits: %q", a.Err)
		}
	})
}

func TestBadLayouts(t *testing.T) {
	slots.Acquire(t, 1)
	for name, l := range map[string]Layout{
		"missing source":  {Binds: []Bind{{Source: "/no/such/source", Target: "/x", ReadOnly: true}}},
		"relative target": {Tmpfs: []Tmpfs{{Target: "tmp"}}},
		"root":            {Tmpfs: []Tmpfs{{Target: "/"}}},
		"unclean":         {Files: []File{{Path: "/a/../b"}}},
		"missing lower":   {Overlays: []Overlay{{Lower: "/no/such/source", Target: "/x"}}},
		"file in a bind":  {Binds: []Bind{{Source: "/usr", Target: "/usr", ReadOnly: true}}, Files: []File{{Path: "/usr/x"}}},
	} {
		for _, u := range users(t) {
			t.Run(name+"/"+u.name, func(t *testing.T) {
				if a := u.run(t, order{Layout: l, UID: u.uid, GID: u.uid}); a.Err == "" {
					t.Error("no error")
				}
			})
		}
	}
}
