package strace

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// live is the heap in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// generate writes about n bytes of log: tasks come and go, calls interleave, paths
// and descriptors never repeat.
func generate(p *Parser, n int) int {
	var b bytes.Buffer
	written := 0
	for i := 1; written < n; i++ {
		b.Reset()
		parent, child := i, i+1
		fmt.Fprintf(&b, "%d 1795256012.%09d clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n", parent, i%1e9)
		fmt.Fprintf(&b, "%d 1795256012.000000001 openat(AT_FDCWD</w/%d>, \"file\\\"%d\", O_RDONLY|O_CLOEXEC <unfinished ...>\n", child, i, i)
		fmt.Fprintf(&b, "%d 1795256012.000000002 <... clone resumed>) = %d\n", parent, child)
		fmt.Fprintf(&b, "%d 1795256012.000000003 <... openat resumed>) = 3</w/%d/file\\\"%d>\n", child, i, i)
		fmt.Fprintf(&b, "%d 1795256012.000000004 chdir(\"/c/%d\") = 0\n", child, i)
		fmt.Fprintf(&b, "%d 1795256012.000000005 execve(\"/bin/x%d\", [\"x\", \"%s\"], 0x7ff /* 3 vars */) = 0\n", child, i, strings.Repeat("y", i%200))
		fmt.Fprintf(&b, "%d 1795256012.000000006 connect(3<socket:[%d]>, {sa_family=AF_INET6, sin6_port=htons(%d), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, \"fd00::%x\", &sin6_addr), sin6_scope_id=0}, 28) = -1 ECONNREFUSED (Connection refused)\n", child, i, i%65536, i%65536)
		fmt.Fprintf(&b, "%d 1795256012.000000007 +++ exited with 0 +++\n", parent)
		m, _ := p.Write(b.Bytes())
		written += m
	}
	return written
}

// The parser keeps no more after 200 MB than after 2.
func TestMemory(t *testing.T) {
	records, complaints := 0, 0
	p := NewParser(0, func(*trace.Record) { records++ }, func([]byte, error) { complaints++ })
	generate(p, 2<<20)
	early := live()
	size := 200 << 20
	if testing.Short() {
		size = 20 << 20
	}
	generate(p, size)
	late := live()
	if grown := late - early; grown > 2<<20 {
		t.Errorf("%d bytes more after %d", grown, size)
	}
	if records == 0 || complaints > 2 {
		t.Errorf("%d records, %d complaints", records, complaints)
	}
	runtime.KeepAlive(p)
}

// BenchmarkMemory gives what the parser keeps alive after logs of very different
// lengths ("live-KB").
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("%dMB", size), func(b *testing.B) {
			most := int64(0)
			for b.Loop() {
				before := live()
				p := NewParser(0, func(*trace.Record) {}, func([]byte, error) {})
				generate(p, size<<20)
				most = max(most, live()-before)
				runtime.KeepAlive(p)
			}
			b.SetBytes(int64(size) << 20)
			b.ReportMetric(float64(most)/1024, "live-KB")
		})
	}
}

// hostileLogs are logs that no strace wrote, made to be kept; most is what may be.
var hostileLogs = []struct {
	name string
	most int64
	want error
	feed func(p *Parser)
}{
	{"a line without an end", maxLine + 8<<20, ErrTooLong, func(p *Parser) {
		piece := bytes.Repeat([]byte("x"), 1<<20)
		for range 100 {
			_, _ = p.Write(piece)
		}
	}},
	{"long lines", maxLine + 8<<20, ErrSyntax, func(p *Parser) {
		line := append(bytes.Repeat([]byte("x"), maxLine-1), '\n')
		for range 10 {
			_, _ = p.Write(line[:100])
			_, _ = p.Write(line[100:])
		}
	}},
	{"calls that never end", 2*maxHeld + 16<<20, ErrTooMany, func(p *Parser) {
		arg := strings.Repeat("a", 10_000)
		for i := range 20_000 {
			_, _ = fmt.Fprintf(p, "%d 1.0 unlink(\"%s\" <unfinished ...>\n", i+1, arg)
		}
	}},
	{"tasks without number", 64 << 20, nil, func(p *Parser) {
		for i := range 200_000 {
			_, _ = fmt.Fprintf(p, "%d 1.0 openat(AT_FDCWD</w/%d>, \"x\", O_RDONLY) = 3\n", i+1, i)
		}
	}},
	{"forks without end", 64 << 20, ErrTooMany, func(p *Parser) {
		for i := range 20_000 {
			_, _ = fmt.Fprintf(p, "%d 1.0 vfork( <unfinished ...>\n", i+1)
		}
	}},
	{"children without number", 64 << 20, nil, func(p *Parser) {
		for i := range 200_000 {
			_, _ = fmt.Fprintf(p, "1 1.0 vfork() = %d\n", i+2)
		}
	}},
	{"an endless argument list", 32 << 20, nil, func(p *Parser) {
		_, _ = fmt.Fprintf(p, "1 1.0 execve(\"/x\", [%s\"z\"], NULL) = 0\n", strings.Repeat(`"y\n", `, 500_000))
	}},
	{"endless peers", 32 << 20, nil, func(p *Parser) {
		_, _ = fmt.Fprintf(p, "1 1.0 sendmmsg(3, [%s], 9, 0) = 0\n", strings.Repeat(`{msg_name={sa_family=AF_UNIX, sun_path=@"x"}}, `, 100_000))
	}},
}

// Nothing that a log says makes the parser keep much.
func TestHostileMemory(t *testing.T) {
	for _, c := range hostileLogs {
		t.Run(c.name, func(t *testing.T) {
			before := live()
			var first error
			p := NewParser(0, func(r *trace.Record) {
				if len(r.Argv) > maxArgv+1 {
					t.Errorf("%d words", len(r.Argv))
				}
			}, func(line []byte, err error) {
				if len(line) > maxBadLine {
					t.Errorf("%d bytes of a line shown", len(line))
				}
				if first == nil {
					first = err
				}
			})
			c.feed(p)
			if grown := live() - before; grown > c.most {
				t.Errorf("%d bytes kept", grown)
			}
			if !errors.Is(first, c.want) {
				t.Errorf("complaint %v, want %v", first, c.want)
			}
			_ = p.Close()
			if grown := live() - before; grown > 24<<20 {
				t.Errorf("%d bytes kept after the end", grown)
			}
			runtime.KeepAlive(p)
		})
	}
}

// After a line that was too long the next is read.
func TestAfterTooLong(t *testing.T) {
	var o outcome
	p := o.parser(0)
	for range 2 * maxLine / (1 << 20) {
		_, _ = p.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	_, _ = p.Write([]byte("y\n1 1.0 unlink(\"/x\") = 0\n"))
	if len(o.errs) != 1 || len(o.records) != 1 || o.records[0].Path != "/x" {
		t.Errorf("%v, %v", o.errs, o.records)
	}
}
