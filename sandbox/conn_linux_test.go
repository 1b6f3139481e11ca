//go:build linux && e2e

package sandbox_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// answerer is this program as a server in a sandbox.
func answerer(t testing.TB) sandbox.Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(public(t), "answerer")
	if err := os.WriteFile(open, program, 0o755); err != nil {
		t.Fatal(err)
	}
	s := spec(open)
	s.Env = append(s.Env, answererEnv+"=1")
	return s
}

// portOf waits until the target listens.
func portOf(t testing.TB, a alive) int {
	t.Helper()
	ctx := bounded(t)
	for {
		ports, err := a.Ports(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(ports) > 0 {
			return ports[0]
		}
	}
}

// send sends as many bytes, and asks for as many.
func send(c net.Conn, up, down int) error {
	head := binary.LittleEndian.AppendUint32(nil, uint32(up))
	_, err := c.Write(append(binary.LittleEndian.AppendUint32(head, uint32(down)), make([]byte, up)...))
	return err
}

// ask sends and receives as many bytes.
func ask(c net.Conn, up, down int) error {
	if err := send(c, up, down); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, c, int64(down))
	return err
}

// Every byte comes, in whatever order the connections are read.
func TestDial(t *testing.T) {
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprintf("single=%t", single), func(t *testing.T) {
			sandboxtest.Need(t, "userns")
			a := start(t, sandboxtest.Bare{SingleUID: single}, answerer(t))
			port := portOf(t, a)
			const much = 32 << 20
			var conns []net.Conn
			for range 3 {
				c, err := a.Dial(bounded(t), port)
				if err != nil {
					t.Fatal(err)
				}
				conns = append(conns, c)
				if err := send(c, 1<<20, much); err != nil {
					t.Fatal(err)
				}
			}
			slices.Reverse(conns)
			for _, c := range conns {
				if err := c.SetDeadline(time.Now().Add(within)); err != nil {
					t.Fatal(err)
				}
				if n, err := io.CopyN(io.Discard, c, much); err != nil {
					t.Errorf("%d bytes came, %v", n, err)
				}
				if err := ask(c, 1, 1); err != nil {
					t.Errorf("it cannot be used again: %v", err)
				}
				_ = c.Close()
			}
			if a.Heard() <= 0 {
				t.Error("nothing was heard")
			}
			if _, err := a.Dial(bounded(t), 1); err == nil || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("a port on which nobody listens: %v", err)
			}
			c, err := a.Dial(bounded(t), port)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Stop(bounded(t), time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("there is more after the end")
			}
			if _, err := a.Dial(bounded(t), port); !errors.Is(err, sandbox.ErrOver) {
				t.Errorf("dialled after the end: %v", err)
			}
			if _, err := a.Ports(bounded(t)); !errors.Is(err, sandbox.ErrOver) {
				t.Errorf("ports after the end: %v", err)
			}
		})
	}
}

// BenchmarkDial measures connections of the host to the target: how long one takes
// to be made and closed, a question's way there and back, and bulk either way.
func BenchmarkDial(b *testing.B) {
	a := start(b, bare(b), answerer(b))
	port := portOf(b, a)
	dial := func(b *testing.B) net.Conn {
		c, err := a.Dial(bounded(b), port)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			c := dial(b)
			if err := ask(c, 1, 1); err != nil {
				b.Fatal(err)
			}
			_ = c.Close()
		}
	})
	const bulk = 4 << 20
	for _, one := range []struct {
		name     string
		up, down int
	}{{"ping", 1, 1}, {"up", bulk, 1}, {"down", 1, bulk}} {
		b.Run(one.name, func(b *testing.B) {
			c := dial(b)
			defer c.Close()
			if one.name != "ping" {
				b.SetBytes(bulk)
			}
			for b.Loop() {
				if err := ask(c, one.up, one.down); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
