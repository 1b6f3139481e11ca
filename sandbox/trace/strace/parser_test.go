package strace

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// outcome is what a parser said, with everything copied out of the record.
type outcome struct {
	lines   []string
	records []trace.Record
	errs    []error
}

func (o *outcome) parser(offset time.Duration) *Parser {
	return NewParser(offset, func(r *trace.Record) {
		text, err := json.Marshal(r)
		if err != nil {
			panic(err)
		}
		o.lines = append(o.lines, string(text))
		c := *r
		if r.Addr != nil {
			a := *r.Addr
			c.Addr = &a
		}
		c.Argv = append([]string(nil), r.Argv...)
		o.records = append(o.records, c)
	}, func(line []byte, err error) {
		o.lines = append(o.lines, fmt.Sprintf("bad: %v: %q", err, line))
		o.errs = append(o.errs, err)
	})
}

// parse reads a whole log.
func parse(log string) *outcome {
	var o outcome
	p := o.parser(0)
	_, _ = p.Write([]byte(log))
	_ = p.Close()
	return &o
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// record reads a log that has to be exactly one record.
func record(t failer, log string) trace.Record {
	t.Helper()
	o := parse(log)
	if len(o.records) != 1 || len(o.errs) != 0 {
		t.Fatalf("want one record of\n%s\ngot\n%s", log, strings.Join(o.lines, "\n"))
	}
	return o.records[0]
}

func logs(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/logs/*.log")
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	m := make(map[string][]byte, len(files))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m[f] = data
	}
	return m
}

// The logs are strace's own, of the programs beside them and of interpreters.
func TestGolden(t *testing.T) {
	for file, data := range logs(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			got := strings.Join(parse(string(data)).lines, "\n") + "\n"
			golden := strings.TrimSuffix(file, ".log") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// lineCases are lines and what their record has beside the time and the task.
var lineCases = []struct {
	name, line string
	want       func(*trace.Record)
}{
	{"deleted directory", `fchmod(3</a/x (deleted)>(deleted), 0600) = 0`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Real, r.FD, r.Flags = "fchmod", trace.OpAttr, "/a/x (deleted)", true, 3, "0600"
	}},
	{"through a pipe's descriptor", `openat(AT_FDCWD</w>, "/proc/self/fd/0", O_RDONLY) = 4<pipe:[17]>`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Given, r.Real = "openat", trace.OpOpen, "pipe:[17]", "/proc/self/fd/0", true
		r.FD, r.Ret, r.Flags = 4, 4, "O_RDONLY"
	}},
	{"descriptor gone before it was read", `openat(AT_FDCWD</w>, "x/../y", O_RDONLY) = 4`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Given, r.FD, r.Ret, r.Flags = "openat", trace.OpOpen, "/w/y", "x/../y", 4, 4, "O_RDONLY"
	}},
	{"cut path", `openat(AT_FDCWD</w>, "/abc"..., O_RDONLY) = -1 ENAMETOOLONG (File name too long)`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Ret, r.Err, r.Flags = "openat", trace.OpOpen, "/abc", -1, "ENAMETOOLONG", "O_RDONLY"
	}},
	{"interrupted", `accept4(3<socket:[5]>, NULL, 0x7f, SOCK_CLOEXEC) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Real, r.FD, r.Flags = "accept4", trace.OpAccept, "socket:[5]", true, 3, "SOCK_CLOEXEC"
		r.Ret, r.Err = -1, "ERESTARTSYS"
	}},
	{"errno without a name", `chmod("/x", 0644) = -1 (errno 999)`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Flags, r.Ret, r.Err = "chmod", trace.OpAttr, "/x", "0644", -1, "errno 999"
	}},
	{"no answer", `kill(7, SIGKILL) = ?`, func(r *trace.Record) {
		r.Call, r.Op, r.Pid, r.Flags, r.Ret, r.Unfinished = "kill", trace.OpKill, 7, "SIGKILL", -1, true
	}},
	{"everybody", `kill(-1, SIGTERM) = 0`, func(r *trace.Record) {
		r.Call, r.Op, r.Pid, r.Flags = "kill", trace.OpKill, -1, "SIGTERM"
	}},
	{"other pid namespace", `kill(2 /* 99 in strace's PID NS */, SIGTERM) = 0`, func(r *trace.Record) {
		r.Call, r.Op, r.Pid, r.Flags = "kill", trace.OpKill, 99, "SIGTERM"
	}},
	{"call without a name", `syscall_0x1c4(0xffffff9c, 0x55a3, 0x180, 0, 0x7f38, 0) = 0`, func(r *trace.Record) {
		r.Call, r.Op = "fchmodat2", trace.OpAttr
	}},
	{"unknown call", `frobnicate({a=[1<<CAP_X, "]"], b=0x1 /* it's ) */}) = 0x7f00 (Timeout)`, func(r *trace.Record) {
		r.Call, r.Op, r.Ret = "frobnicate", trace.OpOther, 0x7f00
	}},
	{"vsock", `connect(7<socket:[9]>, {sa_family=AF_VSOCK, svm_cid=VMADDR_CID_HOST, svm_port=0x63, svm_flags=0}, 16) = -1 EINPROGRESS (Operation now in progress)`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Real, r.FD, r.Ret, r.Err = "connect", trace.OpConnect, "socket:[9]", true, 7, -1, "EINPROGRESS"
		r.Addr = &trace.Addr{Family: "vsock", Host: "VMADDR_CID_HOST", Port: 0x63}
	}},
	{"unnamed unix address", `connect(7<socket:[9]>, {sa_family=AF_UNIX}, 2) = 0`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Real, r.FD, r.Addr = "connect", trace.OpConnect, "socket:[9]", true, 7, &trace.Addr{Family: "unix"}
	}},
	{"question about limits", `prlimit64(0, RLIMIT_CORE, NULL, {rlim_cur=0, rlim_max=0}) = 0`, func(r *trace.Record) {
		r.Call, r.Op, r.Flags = "prlimit64", trace.OpOther, "RLIMIT_CORE"
	}},
	{"limit of another", `prlimit64(44, RLIMIT_CORE, {rlim_cur=0, rlim_max=0}, NULL) = 0`, func(r *trace.Record) {
		r.Call, r.Op, r.Pid, r.Flags = "prlimit64", trace.OpLimit, 44, "RLIMIT_CORE"
	}},
	{"moved by descriptors", `sendfile(5</out>, 4</in>, NULL, 100) = 100`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Real, r.FD, r.To, r.Ret = "sendfile", trace.OpWrite, "/in", true, 4, "/out", 100
	}},
	{"mount", `mount("dev", "/m", "tmpfs", MS_BIND, NULL) = -1 EPERM (Operation not permitted)`, func(r *trace.Record) {
		r.Call, r.Op, r.Path, r.Given, r.Flags, r.Ret, r.Err = "mount", trace.OpMount, "/m", "dev", "MS_BIND", -1, "EPERM"
	}},
	{"six decimals", ``, nil},
}

func TestLine(t *testing.T) {
	const at = "7 100.000000005 "
	base := trace.Record{Seq: 1, Time: 100*time.Second + 5, Tid: 7, FD: -1}
	for _, c := range lineCases {
		if c.want == nil {
			if got := record(t, "7 100.000005 unlink(\"/x\") = 0\n").Time; got != 100*time.Second+5*time.Microsecond {
				t.Errorf("%s: %v", c.name, got)
			}
			continue
		}
		want := base
		c.want(&want)
		if diff := cmp.Diff(want, record(t, at+c.line+"\n")); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// Whatever a line says, it yields a record or a complaint.
func TestBadLines(t *testing.T) {
	for _, line := range []string{
		"", "x", "7", "7 ", "7 1.0", "0 1.0 unlink(\"/x\") = 0", "7 x unlink(\"/x\") = 0", "7 1.0 unlink(\"/x\")",
		"7 1.0 unlink(\"/x) = 0", "7 1.0 unlink(\"/x\" = 0", "7 1.0 unlink] = 0", "7 1.0 (\"/x\") = 0", "7 1.0 a(]) = 0",
		"7 1.0 a(/* ) = 0", "7 1.0 fchmod(3</x, 0) = 0", "7 1.0 unlink(\"/x\") = y", "7 1.0 unlink(\"/x\") 0",
		"7 1.0 +++ left +++", "7 1.0 +++ exited with x +++", "7 1.0 +++ superseded by execve in pid x +++",
		"7 1.0 --- x ---", "7 1.0 <... open resumed>) = 3", "7 1.0 <... open", "strace: Process 7 attached",
		"7 1.0 pause( <detached ...>",
	} {
		o := parse(line + "\n")
		if len(o.errs) != 1 || len(o.records) != 0 {
			t.Errorf("%q: %q", line, o.lines)
		}
	}
	if o := parse("7 1.0 unlink(\"/x\") = 0"); len(o.errs) != 1 || !errors.Is(o.errs[0], ErrSyntax) {
		t.Errorf("a log that ends within a line: %q", o.lines)
	}
}

func TestUnfinished(t *testing.T) {
	o := parse(`1 1.0 openat(AT_FDCWD</w>, "a", O_RDONLY <unfinished ...>
2 2.0 openat(AT_FDCWD</w>, "b", O_RDONLY) = 3</w/b>
1 3.0 <... openat resumed>) = 4</w/a>
1 4.0 connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}, 16 <unfinished ...>
2 5.0 recvmsg(5<socket:[2]>, {msg_name= <unfinished ...>
1 6.0 <... connect resumed> <unfinished ...>) = ?
1 7.0 +++ killed by SIGKILL +++
3 8.0 unlink("c" <unfinished ...>
2 9.0 +++ exited with 4 +++
`)
	type short struct {
		tid        int
		call, path string
		time       time.Duration
		unfinished bool
		err        string
	}
	var got []short
	for _, r := range o.records {
		got = append(got, short{r.Tid, r.Call, r.Path, r.Time / time.Second, r.Unfinished, r.Err})
	}
	want := []short{
		{2, "openat", "/w/b", 2, false, ""},
		{1, "openat", "/w/a", 1, false, ""},
		{1, "connect", "socket:[1]", 4, true, ""},
		{1, "exit", "", 7, false, "SIGKILL"},
		{2, "recvmsg", "socket:[2]", 5, true, ""},
		{2, "exit", "", 9, false, ""},
		{3, "unlink", "c", 8, true, ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(short{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(o.errs) != 0 {
		t.Errorf("complaints: %v", o.errs)
	}
	if a := o.records[2].Addr; a == nil || *a != (trace.Addr{Family: "inet", Host: "1.2.3.4", Port: 80}) {
		t.Errorf("address of a call that never returned: %v", a)
	}
}

// Calls without a directory descriptor are relative to what else is known.
func TestDirectory(t *testing.T) {
	o := parse(`1 1.0 openat(AT_FDCWD</w>, "nope", O_RDONLY) = -1 ENOENT (No such file or directory)
1 1.1 unlink("a") = 0
1 1.2 chdir("sub") = 0
1 1.3 unlink("../b") = 0
1 1.4 clone(child_stack=NULL, flags=SIGCHLD) = 2
2 1.5 unlink("c") = 0
2 1.6 chdir("/elsewhere") = 0
1 1.7 unlink("d") = 0
1 1.8 clone3({flags=CLONE_VM|CLONE_FS, exit_signal=0} => {parent_tid=[3]}, 88) = 3
3 1.9 fchdir(4</shared>) = 0
1 2.0 unlink("e") = 0
2 2.1 unlink("f") = 0
1 2.2 vfork( <unfinished ...>
4 2.3 unlink("g") = 0
1 2.4 <... vfork resumed>) = 4
1 2.5 chroot("/jail") = 0
1 2.6 unlink("/h/../../i") = 0
1 2.7 chdir("/") = -1 EPERM (Operation not permitted)
1 2.8 symlink("../t", "l") = 0
`)
	var got []string
	for _, r := range o.records {
		if r.Op == trace.OpUnlink || r.Op == trace.OpLink {
			got = append(got, strings.TrimSpace(r.Path+" "+r.To))
		}
	}
	want := []string{"/w/a", "/w/b", "/w/sub/c", "/w/sub/d", "/shared/e", "/elsewhere/f", "/shared/g", "/jail/i", "/t /shared/l"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A thread that executes a program becomes its group's leader.
func TestThreadExec(t *testing.T) {
	log := func(result string) string {
		return `1 1.0 connect(3<socket:[1]>, NULL, 0 <unfinished ...>
2 2.0 execve("/bin/x", ["x"], 0x7ff /* 3 vars */ <unfinished ...>
1 3.0 +++ superseded by execve in pid 2 +++
1 4.0 <... execve resumed>) = ` + result + "\n"
	}
	for _, c := range []struct {
		result string
		bad    error
	}{
		{"0", nil},
		{"-1 (errno 18446744073709551595)", nil}, // 21, access
		{"158", nil},                             // arch_prctl
		{"-1 (errno 18446744073709551359)", ErrSwallowed}, // 257, openat
		{"87", ErrSwallowed},                              // unlink
	} {
		if harmless == nil && c.bad == nil && c.result != "0" {
			continue
		}
		o := parse(log(c.result))
		var calls []string
		for _, r := range o.records {
			calls = append(calls, fmt.Sprint(r.Tid, r.Call, r.OK()))
		}
		if diff := cmp.Diff([]string{"1connectfalse", "2exittrue", "1execvetrue"}, calls); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.result, diff)
		}
		switch {
		case c.bad == nil && len(o.errs) != 0, c.bad != nil && (len(o.errs) != 1 || !errors.Is(o.errs[0], c.bad)):
			t.Errorf("%s: complaints %v, want %v", c.result, o.errs, c.bad)
		}
	}
}

// The result does not depend on how the log is cut into pieces.
func TestChunks(t *testing.T) {
	var all []byte
	for _, data := range logs(t) {
		all = append(all, data[:min(len(data), 64<<10)]...)
	}
	want := parse(string(all)).lines
	rapid.Check(t, func(t *rapid.T) {
		var o outcome
		p := o.parser(0)
		for rest := all; len(rest) > 0; {
			most := rapid.SampledFrom([]int{1, 3, 100, 5000, 100_000}).Draw(t, "most")
			n := min(rapid.IntRange(1, most).Draw(t, "n"), len(rest))
			if most == 1 {
				// A run of single bytes.
				n = min(200, len(rest))
				for _, c := range rest[:n-1] {
					_, _ = p.Write([]byte{c})
				}
				_, _ = p.Write(rest[n-1 : n])
			} else {
				_, _ = p.Write(rest[:n])
			}
			rest = rest[n:]
		}
		_ = p.Close()
		if diff := cmp.Diff(want, o.lines); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	})
}

// escape is how strace prints a string; angle is set within angle brackets.
func escape(s []byte, angle bool) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\v':
			b.WriteString(`\v`)
		case c == '\f':
			b.WriteString(`\f`)
		case c < 32 || c > 126 || angle && (c == '<' || c == '>'):
			if i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				fmt.Fprintf(&b, `\%o`, c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// No name can be mistaken for anything but itself.
func TestHostileNames(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{`"`, `\`, `<`, `>`, ` <unfinished ...>`, ` = 0`, "\n", `, `, `)`, `}`, `(deleted)`, `/* `, `*/`, `<... open resumed>`, "\n1 1.0 ", `msg_name={sa_family=AF_INET}`}),
		rapid.StringMatching(`[a-z0-9]{1,4}`),
		rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 1, 4), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "name"), "")
		real := "/d/" + strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "real"), "")
		open := record(t, fmt.Sprintf("1 1.0 openat(AT_FDCWD<%s>, \"%s\", O_RDONLY) = 3<%s>\n",
			escape([]byte("/w"), true), escape([]byte(name), false), escape([]byte(real), true)))
		if open.Path != real || !open.Real || open.Given != wantGiven(name, real) {
			t.Fatalf("opened %q as %q, given %q", real, open.Path, open.Given)
		}
		failed := record(t, fmt.Sprintf("1 1.0 openat(4<%s>(deleted), \"%s\", O_RDONLY) = -1 ENOENT (No such file or directory)\n",
			escape([]byte(real), true), escape([]byte(name), false)))
		want := path.Clean(name)
		if !path.IsAbs(name) {
			want = path.Join(real, name)
		}
		if failed.Path != want || failed.Err != "ENOENT" {
			t.Fatalf("%q in %q is %q, not %q", name, real, failed.Path, want)
		}
		run := record(t, fmt.Sprintf("1 1.0 execve(\"/x\", [\"%s\", \"%s\"...], 0x7 /* 1 vars */) = 0\n",
			escape([]byte(name), false), escape([]byte(real), false)))
		if diff := cmp.Diff([]string{name, real + "…"}, run.Argv); diff != "" {
			t.Fatal(diff)
		}
		host := record(t, fmt.Sprintf("1 1.0 sendmsg(3<socket:[1]>, {msg_name={sa_family=AF_UNIX, sun_path=@\"%s\"}, msg_namelen=5, msg_iov=[{iov_base=\"%s\", iov_len=4}]}, 0) = 4\n",
			escape([]byte(name), false), escape([]byte(real), false)))
		if host.Addr == nil || host.Addr.Host != "@"+name {
			t.Fatalf("sent to %+v, not %q", host.Addr, "@"+name)
		}
	})
}

// wantGiven is what Given has to say of a name that led to real.
func wantGiven(name, real string) string {
	if name == real {
		return ""
	}
	return name
}

func TestClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"/", "a", ".", "..", "b", "..."}), 1, 12).Draw(t, "path"), "")
		p := NewParser(0, nil, nil)
		if got, want := string(p.clean([]byte(s))), path.Clean(s); got != want {
			t.Fatalf("clean(%q) = %q, want %q", s, got, want)
		}
	})
}

func TestArgs(t *testing.T) {
	core, io := Args(Core, "/x"), Args(IO, "/x")
	if diff := cmp.Diff(core, Args("other", "/x")); diff != "" {
		t.Errorf("an unknown set is not core: %s", diff)
	}
	traced := func(args []string, name string) bool {
		for _, a := range args {
			if list, ok := strings.CutPrefix(a, "--trace="); ok {
				return strings.Contains(","+list+",", ",?"+name+",")
			}
		}
		return false
	}
	for _, name := range []string{"openat", "connect", "execve", "seccomp", "prctl"} {
		if !traced(core, name) || !traced(io, name) {
			t.Errorf("%s is not traced", name)
		}
	}
	for _, name := range []string{"stat", "newfstatat", "statx"} {
		if traced(core, name) || !traced(Args(Looks, "/x"), name) || !traced(io, name) {
			t.Errorf("%s does not belong to the looks set", name)
		}
	}
	for _, name := range []string{"read", "write", "close", "mmap"} {
		if traced(core, name) || !traced(io, name) {
			t.Errorf("%s belongs to the io set alone", name)
		}
	}
	for _, a := range core {
		if a == "-z" || strings.HasPrefix(a, "--successful") {
			t.Errorf("failed calls are dropped by %s", a)
		}
	}
}

// Where nothing is written between a thread's exec and its end, strace ends the
// exec's line with the number that the thread takes.
func TestRenumberedExec(t *testing.T) {
	o := parse(`2 1.0 execve("/bin/x", ["a <pid changed to 7 ...>"], 0x7ff /* 0 vars */ <pid changed to 1 ...>
1 2.0 +++ superseded by execve in pid 2 +++
1 3.0 <... execve resumed>) = 0
1 4.0 exit_group(0) = ?
`)
	if len(o.errs) != 0 {
		t.Fatal(o.errs)
	}
	for _, r := range o.records {
		if r.Op == trace.OpExec && (r.Tid != 1 || r.Path != "/bin/x" || !r.OK() || len(r.Argv) != 1) {
			t.Errorf("%+v", r)
		}
	}
	if len(o.records) < 2 {
		t.Errorf("%d records", len(o.records))
	}
}
