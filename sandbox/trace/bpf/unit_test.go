package bpf

import (
	"bytes"
	"encoding/binary"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// sample makes an event as the kernel's side writes it.
func sample(h head, blobs ...blob) []byte {
	var body bytes.Buffer
	for _, b := range blobs {
		body.Write([]byte{b.what, b.fault})
		_ = binary.Write(&body, binary.NativeEndian, uint16(len(b.data)))
		body.Write(b.data)
	}
	h.Size = uint32(body.Len())
	var out bytes.Buffer
	_ = binary.Write(&out, binary.NativeEndian, h)
	out.Write(body.Bytes())
	return out.Bytes()
}

func walked(names ...string) []byte {
	b := make([]byte, 16)
	for i := len(names) - 1; i >= 0; i-- {
		b = append(append(b, names[i]...), 0)
	}
	return b
}

func TestEvent(t *testing.T) {
	h := head{Time: 1, Ret: -2, Kind: 3, NR: 4, Flags: 5, TID: 6, TGID: 7, PID: 8, Own: 9, NS: 10, Child: 11, ChildOwn: 12, ChildNS: 13}
	for i := range h.Args {
		h.Args[i] = uint64(100 + i)
	}
	raw := sample(h, blob{what: 1, data: []byte("a\x00")}, blob{what: 8, fault: 1})
	var e event
	if err := e.read(raw); err != nil {
		t.Fatal(err)
	}
	h.Size = e.Size
	if e.head != h {
		t.Errorf("%+v, want %+v", e.head, h)
	}
	if len(e.blobs) != 2 || strings.TrimSuffix(string(e.blobs[0].data), "\x00") != "a" || e.blobs[1].fault != 1 {
		t.Errorf("%+v", e.blobs)
	}
	for n := range raw {
		if err := e.read(raw[:n]); err == nil {
			t.Fatalf("%d of %d bytes are an event", n, len(raw))
		}
	}
}

func TestPathOf(t *testing.T) {
	for want, data := range map[string][]byte{
		"/": walked(""), "/etc/passwd": walked("etc", "passwd"), "": nil,
		"socket:[7]": append(binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, magicSock), 7), "TCP\x00"...),
		"pid:9":      binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, magicPid), 9),
	} {
		e := event{known: newKnown()}
		for range 2 {
			if got := []string{pathOf(data), new(event).path(blob{data: data}), e.path(blob{data: data})}; got[0] != want || got[1] != want || got[2] != want {
				t.Errorf("%q: %q, want %q", data, got, want)
			}
		}
	}
}

// The numbers are those that the Go project generates from the kernel's headers.
func TestNumbers(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("no module cache here: ", err)
	}
	for arch, list := range map[string]string{"amd64": numbersAMD64, "386": numbers386, "arm64": numbersARM64} {
		file := filepath.Join(strings.TrimSpace(string(out)), "unix", "zsysnum_linux_"+arch+".go")
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]int{}
		for name, obj := range f.Scope.Objects {
			spec := reflect.ValueOf(obj.Decl).Elem().FieldByName("Values")
			if spec.Len() != 1 {
				continue
			}
			lit := spec.Index(0).Elem().Elem().FieldByName("Value")
			if n, err := strconv.Atoi(lit.String()); err == nil {
				known[strings.ToLower(strings.TrimPrefix(name, "SYS_"))] = n
			}
		}
		for name, n := range numbers(list) {
			if got, ok := known[name]; !ok || got != n {
				t.Errorf("%s: %s is %d, not %d", arch, name, got, n)
			}
		}
		for name := range trace.Calls {
			if _, ok := numbers(list)[name]; !ok && known[name] != 0 {
				t.Errorf("%s: %s (%d) is not watched", arch, name, known[name])
			}
		}
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		call string
		i    int
		args [8]uint64
		want string
	}{
		{"openat", 2, [8]uint64{2: 0x80241}, "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC"},
		{"openat", 2, [8]uint64{2: 0}, "O_RDONLY"},
		{"chmod", 1, [8]uint64{1: 0o4755}, "04755"},
		{"chmod", 1, [8]uint64{1: 0o644}, "0644"},
		{"chmod", 1, [8]uint64{}, "000"},
		{"mknod", 1, [8]uint64{1: 0o10600}, "S_IFIFO|0600"},
		{"kill", 1, [8]uint64{1: 9}, "SIGKILL"},
		{"kill", 1, [8]uint64{1: 0}, ""},
		{"kill", 1, [8]uint64{1: 1 << 40}, "1099511627776"},
		{"socket", 2, [8]uint64{0: 2, 2: 0}, "IPPROTO_IP"},
		{"socket", 2, [8]uint64{0: 1, 2: 0}, ""},
		{"socket", 1, [8]uint64{1: 0x80801}, "SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK"},
		{"access", 1, [8]uint64{1: 0}, "F_OK"},
		{"access", 1, [8]uint64{1: 6}, "R_OK|W_OK"},
		{"prctl", 1, [8]uint64{0: 22, 1: 2}, "SECCOMP_MODE_FILTER"},
		{"unknown", 1, [8]uint64{1: 255}, "0xff"},
	} {
		if got := flagText(c.call, c.i, &c.args); got != c.want {
			t.Errorf("%s %#x: %q, want %q", c.call, c.args, got, c.want)
		}
	}
}

// A decoder believes nothing: whatever an event says, it neither panics nor grows.
func FuzzDecode(f *testing.F) {
	f.Add(sample(head{Kind: eventCall, NR: 257, TID: 6, TGID: 60, PID: 60, Args: [8]uint64{^uint64(99)}}, blob{what: 1, data: []byte("x\x00")}, blob{what: blobCwd, data: walked("a")}))
	f.Add(sample(head{Kind: eventForked, TID: 6, TGID: 60, PID: 60, Child: 7, Args: [8]uint64{70, 70}}))
	f.Add(sample(head{Kind: eventEarlyArgs, NR: 59, TID: 6, TGID: 60, PID: 60}, blob{what: 0, data: []byte("/bin/x\x00")}, blob{what: blobWord, data: []byte("x\x00")}))
	f.Add(sample(head{Kind: eventExited, TID: 6, TGID: 60, PID: 60, Flags: flagLeader | flagLast}))
	f.Add(sample(head{Kind: eventExeced, TID: 6, TGID: 60, PID: 60, Args: [8]uint64{61}, Flags: flagLate}))
	abis, err := tables("amd64", IO)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var last uint64
		d := newDecoder(abis, 1, 6, func(r *trace.Record) {
			if r.Seq != last+1 {
				t.Fatalf("record %d after %d", r.Seq, last)
			}
			last = r.Seq
		}, func(uint64, string) {})
		d.started = true
		for rest := b; len(rest) >= headSize; rest = rest[headSize:] {
			var e event
			if e.read(rest) == nil {
				d.take(&e)
			}
		}
	})
}

// Two threads that end at the same time both say that they are the last of their
// process: the second is no stranger. Numbers are used again, and nothing is kept.
func TestThreadsThatEndTogether(t *testing.T) {
	var lost []string
	exits := 0
	d := newDecoder(new([2]*abi), 1, 5, func(*trace.Record) { exits++ }, func(_ uint64, why string) { lost = append(lost, why) })
	d.started = true
	d.adopt(5, theirs)
	for i := range int32(3 * maxEnded) {
		nr := 100 + i%(2*maxEnded)
		born := event{head: head{Kind: eventForked, NS: 1, TGID: 5, TID: 5, ChildNS: 1, Child: nr}}
		born.Args[0], born.Args[1] = uint64(nr), uint64(nr)
		d.take(&born)
		d.take(&event{head: head{Kind: eventExited, NS: 1, TGID: nr, PID: nr, TID: nr, Flags: flagLeader | flagLast}})
		d.take(&event{head: head{Kind: eventExited, NS: 1, TGID: nr, PID: nr + 50_000, TID: nr + 50_000, Flags: flagLast}})
	}
	if len(lost) > 0 || exits != 6*maxEnded {
		t.Errorf("%d exits, lost %q", exits, lost[:min(len(lost), 3)])
	}
	if len(d.owners) > 2*maxEnded || len(d.over) > 2*maxEnded || len(d.ended) > maxEnded {
		t.Errorf("%d, %d and %d are kept", len(d.owners), len(d.over), len(d.ended))
	}
}

// A thread's exec that takes the leader's number and fails then is the one that was entered.
func TestExecThatFailsAsTheLeader(t *testing.T) {
	abis, err := tables("amd64", Core)
	if err != nil {
		t.Fatal(err)
	}
	var lost []string
	var got []trace.Record
	d := newDecoder(abis, 1, 5, func(r *trace.Record) { got = append(got, *r) }, func(_ uint64, why string) { lost = append(lost, why) })
	d.started = true
	d.adopt(10, theirs)
	execve := uint32(number(abis[0], "execve"))
	d.take(&event{
		head:  head{Kind: eventEarlyArgs, NR: execve, NS: 1, TGID: 10, PID: 12, TID: 12, Args: [8]uint64{1, 2}},
		blobs: []blob{{what: 0, data: []byte("/bin/x\x00")}, {what: blobWord, data: []byte("x\x00")}},
	})
	for _, tgid := range []int32{11, 10} {
		d.adopt(tgid, theirs)
		d.take(&event{head: head{Kind: eventCall, NR: execve, Flags: flagFatal, Ret: -1, NS: 1, TGID: tgid, PID: tgid, TID: tgid, Args: [8]uint64{1, 2}}})
	}
	if len(lost) != 1 || len(got) != 2 || got[1].Path != "/bin/x" || !slices.Equal(got[1].Argv, []string{"x"}) || !got[1].Unfinished || got[0].Path != "" {
		t.Errorf("%+v, lost %q", got, lost)
	}
}

func number(a *abi, name string) int {
	return slices.IndexFunc(a.calls[:], func(c *trace.Call) bool { return c != nil && c.Name == name })
}

func TestClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := "/" + rapid.StringMatching(`[a/.]{0,12}`).Draw(t, "path")
		if got, want := clean(p), path.Clean(p); got != want {
			t.Errorf("%q: %q, want %q", p, got, want)
		}
	})
}
