//go:build linux && e2e

package strace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

// need skips a test without a program, or fails it where COALMINE_REQUIRE names that.
func need(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		if slices.Contains(strings.Split(os.Getenv("COALMINE_REQUIRE"), ","), name) {
			t.Fatalf("%s is required and missing", name)
		}
		t.Skipf("%s is missing", name)
	}
}

// compile builds a program of testdata/programs.
func compile(t testing.TB, name string, flags ...string) string {
	t.Helper()
	need(t, "gcc")
	bin := filepath.Join(t.TempDir(), name)
	args := append([]string{"-O1", "-w", "-o", bin, filepath.Join("testdata", "programs", name+".c")}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile %s: %v\n%s", name, err, out)
	}
	return bin
}

// seen is what a traced run yielded.
type seen struct {
	records []trace.Record
	bad     []error
	log     string
	code    int
}

// run traces a command with the given strace.
func run(t testing.TB, prefix []string, set string, command ...string) *seen {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	argv := append(append(append([]string{}, prefix...), strace.Args(set, log)...), command...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || len(out) > 0 {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	s := &seen{log: string(data), code: cmd.ProcessState.ExitCode()}
	p := strace.NewParser(0, func(r *trace.Record) {
		c := *r
		if r.Addr != nil {
			a := *r.Addr
			c.Addr = &a
		}
		c.Argv = slices.Clone(r.Argv)
		s.records = append(s.records, c)
	}, func(line []byte, err error) { s.bad = append(s.bad, fmt.Errorf("%w: %s", err, line)) })
	if wd, err := os.Getwd(); err == nil {
		p.SetDir(wd)
	}
	_, _ = p.Write(data)
	_ = p.Close()
	return s
}

// find returns the records that a function accepts.
func (s *seen) find(ok func(trace.Record) bool) (found []trace.Record) {
	for _, r := range s.records {
		if ok(r) {
			found = append(found, r)
		}
	}
	return found
}

// one returns the only record that a function accepts.
func (s *seen) one(t testing.TB, what string, ok func(trace.Record) bool) trace.Record {
	t.Helper()
	found := s.find(ok)
	if len(found) != 1 {
		t.Fatalf("%s: %d records in\n%s", what, len(found), s.log)
	}
	return found[0]
}

func (s *seen) noBad(t testing.TB) {
	t.Helper()
	if len(s.bad) > 0 {
		t.Errorf("complaints: %v", s.bad)
	}
}

func host(t testing.TB) []string {
	need(t, "strace")
	return []string{"strace"}
}

const hostile = "we\"ird <unfinished ...>\n = 0 > (deleted) [x] \\\x01\xff\xc3\xa9 , }) = 3<etc passwd>"

func TestCalls(t *testing.T) {
	slots.Acquire(t, 1)
	prefix := host(t)
	bin := compile(t, "calls")
	for _, set := range []string{strace.Core, strace.IO} {
		t.Run(set, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s := run(t, prefix, set, bin, dir)
			s.noBad(t)
			checkFiles(t, s, dir)
			checkSockets(t, s, dir)
			checkTasks(t, s)
		})
	}
}

func checkHostile(t *testing.T, s *seen, name string) {
	t.Helper()
	got := map[string]string{}
	for _, r := range s.records {
		if r.Op == trace.OpOpen && r.Path == name {
			got[r.Call] = fmt.Sprint(r.Real, r.Err, r.Flags)
		}
		if (r.Call == "fchmod" || r.Call == "ftruncate" || r.Call == "unlink") && r.Path == name {
			got[r.Call] = fmt.Sprint(r.Real, r.Err, r.Flags)
		}
	}
	want := map[string]string{
		"openat": "trueO_RDWR|O_CREAT", "fchmod": "true0600", "ftruncate": "true", "unlink": "false",
	}
	for k := range got {
		got[k] = strings.ReplaceAll(got[k], " ", "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the hostile name: -want +got\n%s", diff)
	}
}

func checkFiles(t *testing.T, s *seen, dir string) {
	t.Helper()
	name := filepath.Join(dir, "d", hostile)
	checkHostile(t, s, name)
	for _, c := range []struct {
		what string
		ok   func(trace.Record) bool
	}{
		{"relative to a descriptor, failed", func(r trace.Record) bool {
			return r.Op == trace.OpOpen && r.Given == "nope/../x" && r.Path == dir+"/x" && r.Err == "ENOENT" && !r.Real && r.FD == -1
		}},
		{"relative to a descriptor", func(r trace.Record) bool {
			return r.Call == "openat" && r.Given == "calls.txt" && r.Path == dir+"/calls.txt" && r.Real && r.FD == int(r.Ret)
		}},
		{"dots resolved", func(r trace.Record) bool {
			return r.Given == "./d/../calls.txt" && r.Path == dir+"/calls.txt" && r.Real
		}},
		{"through /proc/self/root", func(r trace.Record) bool {
			return r.Given == "/proc/self/root/dev/null" && r.Path == "/dev/null" && r.Real
		}},
		{"a path that is none", func(r trace.Record) bool { return r.Op == trace.OpOpen && r.Given == "0x1" && r.Err == "EFAULT" }},
		{"openat2", func(r trace.Record) bool {
			return r.Call == "openat2" && r.Path == dir+"/calls.txt" && r.Flags == "O_RDONLY|O_CLOEXEC" && r.Real
		}},
		{"openat2, failed", func(r trace.Record) bool { return r.Call == "openat2" && r.Err == "EXDEV" }},
		{"rename", func(r trace.Record) bool {
			return r.Op == trace.OpRename && r.Path == dir+"/d/made" && r.To == dir+"/d/moved"
		}},
		{"renameat2", func(r trace.Record) bool {
			return r.Op == trace.OpRename && r.Path == dir+"/q1" && r.To == dir+"/d/q2" && r.Err == "ENOENT"
		}},
		{"symlink", func(r trace.Record) bool {
			return r.Op == trace.OpLink && r.Path == dir+"/tgt" && r.Given == "../tgt" && r.To == dir+"/d/ln"
		}},
		{"link of a descriptor", func(r trace.Record) bool {
			return r.Call == "linkat" && r.Path == name && r.Real && r.To == dir+"/d/third"
		}},
		{"set-uid bit", func(r trace.Record) bool { return r.Call == "chmod" && r.Path == dir+"/d/moved" && r.Flags == "04755" }},
		{"times of a descriptor", func(r trace.Record) bool { return r.Call == "utimensat" && r.Path == name && r.Real }},
		{"xattr", func(r trace.Record) bool { return r.Call == "setxattr" && r.Flags == `user.na"me` }},
		{"rmdir", func(r trace.Record) bool { return r.Op == trace.OpUnlink && r.Path == dir+"/d" }},
		{"unlink after fchdir", func(r trace.Record) bool { return r.Op == trace.OpUnlink && r.Path == dir+"/in-cwd" }},
		{"memfd", func(r trace.Record) bool {
			return r.Op == trace.OpMemfd && r.Path == `/memfd:nam"e>` && r.Given == `nam"e>`
		}},
		{"limit", func(r trace.Record) bool { return r.Op == trace.OpLimit && r.Flags == "RLIMIT_CORE" }},
		{"mount", func(r trace.Record) bool { return r.Call == "mount" && r.Path == dir+"/nowhere" && r.Given == "src" }},
		{"ptrace", func(r trace.Record) bool { return r.Call == "ptrace" && r.Flags == "PTRACE_ATTACH" && r.Pid == 999999 }},
		{"namespace", func(r trace.Record) bool { return r.Op == trace.OpNS && r.Flags == "CLONE_FS" }},
		{"seccomp", func(r trace.Record) bool { return r.Op == trace.OpRefused && r.Call == "seccomp" && r.Err != "" }},
		{"io_uring", func(r trace.Record) bool { return r.Op == trace.OpRefused && r.Call == "io_uring_setup" && r.Err != "" }},
	} {
		s.one(t, c.what, c.ok)
	}
}

func checkSockets(t *testing.T, s *seen, dir string) {
	t.Helper()
	to := func(op trace.Op, call string) (peers []string) {
		for _, r := range s.records {
			if r.Op == op && r.Addr != nil && (call == "" || r.Call == call) {
				text := r.Addr.Family + " " + r.Addr.Host
				if r.Addr.Port != 0 && r.Addr.Port < 1024 {
					text += fmt.Sprint(" ", r.Addr.Port)
				}
				peers = append(peers, text)
			}
		}
		return peers
	}
	for _, c := range []struct {
		op   trace.Op
		call string
		want []string
	}{
		{trace.OpConnect, "", []string{
			"inet 127.0.0.1 81", "inet 127.0.0.1", "inet6 fe80::1 53", "unix @abs\"tract\n}", "unix @abs\"tract\n}", "0x63 ", "unspec ",
		}},
		{trace.OpBind, "", []string{"inet 127.0.0.1", "unix " + dir + "/so\"ck}, x=\n", "netlink "}},
		{trace.OpSend, "sendto", []string{"inet6 ::1 53"}},
		{trace.OpSend, "sendmsg", []string{"inet6 ::1 53"}},
		{trace.OpSend, "sendmmsg", []string{"inet6 ::1 53", "inet6 127.0.0.2 53"}},
		{trace.OpAccept, "", []string{"inet 127.0.0.1"}},
		{trace.OpSocket, "", []string{"inet ", "inet ", "inet ", "inet6 ", "unix ", "unix ", "netlink "}},
	} {
		if diff := cmp.Diff(c.want, to(c.op, c.call)); diff != "" {
			t.Errorf("%s %s: -want +got\n%s", c.op, c.call, diff)
		}
	}
}

func checkTasks(t *testing.T, s *seen) {
	t.Helper()
	main := s.records[0].Tid
	born := map[int]bool{}
	for _, r := range s.find(func(r trace.Record) bool { return r.Op == trace.OpFork }) {
		if r.Tid != main || r.Child == 0 || born[r.Child] {
			t.Errorf("fork: %+v", r)
		}
		born[r.Child] = true
	}
	var ends []string
	for _, r := range s.find(func(r trace.Record) bool { return r.Op == trace.OpExit }) {
		if r.Tid != main && !born[r.Tid] {
			t.Errorf("the end of a task that was not born: %+v", r)
		}
		ends = append(ends, fmt.Sprint(r.Ret, " ", r.Err))
	}
	if diff := cmp.Diff([]string{"0 ", "0 ", "-1 SIGKILL", "-1 SIGABRT", "3 ", "0 "}, ends); diff != "" {
		t.Errorf("ends: -want +got\n%s", diff)
	}
	failed := s.one(t, "failed exec", func(r trace.Record) bool { return r.Op == trace.OpExec && r.Path == "/nonexistent" })
	if diff := cmp.Diff([]string{"/bin/echo", `a"b`, "c\nd", "\xff"}, failed.Argv); diff != "" || failed.Err != "ENOENT" || !born[failed.Tid] {
		t.Errorf("failed exec: %+v %s", failed, diff)
	}
	suicide := s.one(t, "kill that never returned", func(r trace.Record) bool { return r.Op == trace.OpKill && r.Unfinished })
	if suicide.Pid != suicide.Tid || suicide.Flags != "SIGKILL" {
		t.Errorf("kill: %+v", suicide)
	}
}

// oddCases are the parts of testdata/programs/odd.c.
var oddCases = []struct {
	name  string
	args  []string
	bad   error
	check func(*testing.T, *seen)
}{
	{"thread-exec", nil, nil, func(t *testing.T, s *seen) {
		first := s.records[0].Tid
		r := s.one(t, "exec", func(r trace.Record) bool { return r.Path == "/bin/true" && r.Op == trace.OpExec })
		if r.Tid != first || !r.OK() || r.Ret != 0 {
			t.Errorf("exec: %+v", r)
		}
		after := s.find(func(r trace.Record) bool { return r.Op == trace.OpOpen && r.Time > s.records[len(s.records)-5].Time })
		if len(after) == 0 {
			t.Errorf("nothing was seen of the new program in\n%s", s.log)
		}
	}},
	{"32-bit", nil, nil, func(t *testing.T, s *seen) {
		s.one(t, "open", func(r trace.Record) bool { return r.Call == "open" && r.Path == "/etc/hostname" && r.Real })
		s.one(t, "unlink", func(r trace.Record) bool { return r.Call == "unlink" && r.Path == "/nowhere" && r.Err == "ENOENT" })
		s.one(t, "socket", func(r trace.Record) bool { return r.Op == trace.OpSocket && r.Addr.Family == "inet" })
		s.one(t, "seccomp", func(r trace.Record) bool { return r.Op == trace.OpRefused && r.Err != "" })
	}},
	{"untraced", nil, strace.ErrUntraced, func(t *testing.T, s *seen) {
		if s.code != 0 {
			t.Errorf("a child that is not traced could open a file")
		}
	}},
	{"clone3", nil, nil, func(t *testing.T, s *seen) {
		fork := s.one(t, "clone3", func(r trace.Record) bool { return r.Call == "clone3" })
		open := s.one(t, "open", func(r trace.Record) bool { return r.Path == "/etc/passwd" })
		kill := s.one(t, "kill", func(r trace.Record) bool { return r.Op == trace.OpKill })
		if fork.Child != open.Tid || kill.Pid != fork.Child || !strings.Contains(fork.Flags, "CLONE_PIDFD") {
			t.Errorf("clone3: %+v\nopen: %+v\nkill: %+v", fork, open, kill)
		}
	}},
	{"pid-namespace", nil, nil, func(t *testing.T, s *seen) {
		if s.code == 77 {
			t.Skip("namespaces are not permitted here")
		}
		open := s.one(t, "open", func(r trace.Record) bool { return r.Path == "/etc/passwd" })
		s.one(t, "its birth", func(r trace.Record) bool { return r.Op == trace.OpFork && r.Child == open.Tid && r.Ret == 2 })
		s.one(t, "its signal", func(r trace.Record) bool { return r.Op == trace.OpKill && r.Pid == open.Tid })
		s.one(t, "its end", func(r trace.Record) bool { return r.Op == trace.OpExit && r.Tid == open.Tid && r.Ret == 4 })
	}},
	{"filter", nil, strace.ErrFiltered, func(t *testing.T, s *seen) {
		s.one(t, "filter", func(r trace.Record) bool { return r.Flags == "PR_SET_SECCOMP|SECCOMP_MODE_FILTER" })
	}},
	{"storm", nil, nil, func(t *testing.T, s *seen) {
		for i := range 4 {
			want := fmt.Sprintf("/proc/self/storm%d", i)
			if n := len(s.find(func(r trace.Record) bool { return r.Path == want && r.Err == "ENOENT" })); n != 200 {
				t.Errorf("%s: %d of 200", want, n)
			}
		}
		status := fmt.Sprintf("/proc/%d/status", s.records[0].Tid)
		if n := len(s.find(func(r trace.Record) bool { return r.Path == status && r.Real })); n != 800 {
			t.Errorf("%s: %d of 800", status, n)
		}
	}},
}

// Tasks that come and go in unusual ways.
func TestOdd(t *testing.T) {
	slots.Acquire(t, 1)
	prefix := host(t)
	odd := compile(t, "odd", "-pthread")
	for _, c := range oddCases {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, prefix, strace.Core, append([]string{odd, c.name}, c.args...)...)
			c.check(t, s)
			if c.bad == nil {
				s.noBad(t)
			} else if len(s.bad) != 1 || !errors.Is(s.bad[0], c.bad) {
				t.Errorf("complaints %v, want %v", s.bad, c.bad)
			}
		})
	}
}

// A thread's exec costs strace one call; that it does is told.
func TestSwallowed(t *testing.T) {
	slots.Acquire(t, 1)
	prefix := host(t)
	odd := compile(t, "odd", "-pthread")
	bare := compile(t, "bare", "-nostdlib", "-static")
	s := run(t, prefix, strace.Core, odd, "thread-exec", bare)
	unlinks := s.find(func(r trace.Record) bool { return r.Path == "/nowhere" })
	told := len(s.bad) == 1 && errors.Is(s.bad[0], strace.ErrSwallowed)
	if len(unlinks) == 0 && !told || len(unlinks) > 0 && len(s.bad) > 0 {
		t.Errorf("%d unlinks, complaints %v in\n%s", len(unlinks), s.bad, s.log)
	}
	s.one(t, "exec", func(r trace.Record) bool { return r.Op == trace.OpExec && r.Path == bare && r.OK() && r.Ret == 0 })
}

// Real interpreters yield no line that is not understood.
func TestInterpreters(t *testing.T) {
	slots.Acquire(t, 1)
	prefix := host(t)
	for _, c := range [][]string{
		{"python3", "-c", "import asyncio, ssl, subprocess\nsubprocess.run(['true'])\nopen('/nowhere/x')"},
		{"node", "-e", "require('child_process').execFileSync('true'); try { require('fs').readFileSync('/nowhere/x') } catch {}; fetch('http://127.0.0.1:9').catch(() => 0)"},
	} {
		t.Run(c[0], func(t *testing.T) {
			need(t, c[0])
			path, err := exec.LookPath(c[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range []string{strace.Core, strace.IO} {
				// The interpreter's own complaint is not the test's.
				s := run(t, prefix, set, append([]string{"/bin/sh", "-c", `exec "$0" "$@" 2>/dev/null`, path}, c[1:]...)...)
				s.noBad(t)
				if len(s.find(func(r trace.Record) bool { return r.Path == "/nowhere/x" && r.Err == "ENOENT" })) == 0 {
					t.Errorf("%s: the failed open is not there", set)
				}
			}
		})
	}
}

func TestBundle(t *testing.T) {
	slots.Acquire(t, 1)
	need(t, "strace")
	files, prefix, err := strace.Bundle("")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range files {
		if !f.Root || f.Mode != 0o555 || filepath.Dir(f.Path) != strace.BundleDir {
			t.Errorf("%s: mode %o, root %v", f.Path, f.Mode, f.Root)
		}
		if err = os.WriteFile(filepath.Join(dir, filepath.Base(f.Path)), f.Data, os.FileMode(f.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	var local []string
	for _, a := range prefix {
		local = append(local, strings.Replace(a, strace.BundleDir, dir, 1))
	}
	odd := compile(t, "odd", "-pthread")
	s := run(t, local, strace.Core, odd, "clone3")
	s.noBad(t)
	s.one(t, "the child's open", func(r trace.Record) bool { return r.Path == "/etc/passwd" && r.Tid != s.records[0].Tid })

	// Nothing but the bundle is loaded: strace's own files, seen from outside.
	log := filepath.Join(t.TempDir(), "outer")
	outer := append([]string{"-qq", "-e", "trace=openat", "-o", log}, append(local, "--version")...)
	if out, err := exec.Command("strace", outer...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(".so")) && !bytes.Contains(line, []byte(dir)) {
			t.Errorf("outside of the bundle: %s", line)
		}
	}
}
