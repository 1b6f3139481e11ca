package sinkhole

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func serveUntil(in io.Reader, files []*os.File, c Config) int {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	out := json.NewEncoder(os.Stdout)
	if err := Serve(ctx, files, c, func(e Event) { _ = out.Encode(e) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const bound = 64 << 10 // KiB

func TestTenThousandConnectionsAtOnce(t *testing.T) {
	if !inside(t) {
		return
	}
	j, peak := apart(t, Config{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	failed := 0
	for range 64 {
		wg.Go(func() {
			for range 10000 / 64 {
				c, err := net.DialTimeout("tcp", "93.184.216.34:4444", 30*time.Second)
				mu.Lock()
				if err != nil {
					failed++
				} else {
					conns = append(conns, c)
				}
				mu.Unlock()
				if err == nil {
					_, _ = io.WriteString(c, "one of many")
				}
			}
		})
	}
	wg.Wait()
	c := dial(t, "tcp", "93.184.216.34:4445")
	fmt.Fprint(c, "the last one")
	j.wait(t, "the last", func(e Event) bool { return string(e.Data) == "the last one" })
	t.Logf("%d connections, %d failed, at most %d KiB", len(conns), failed, peak())
	if failed > 0 || peak() > bound {
		t.Errorf("%d failed; %d KiB", failed, peak())
	}
	for _, c := range conns {
		c.Close()
	}
}

// Where an earlier arming's rules stood before the last one's, a client's port
// that was used again led into a connection in TIME_WAIT and waited a second.
func TestPortsAreUsedAgainAfterArmingTwice(t *testing.T) {
	if !inside(t) {
		return
	}
	if err := writeSysctl("ipv4/ip_local_port_range", "40000\t40199"); err != nil {
		t.Fatal(err)
	}
	t.Run("first", func(t *testing.T) { arm(t, Config{}) })
	arm(t, Config{})
	start := time.Now()
	for range 1000 {
		c := dial(t, "tcp", "93.184.216.34:80")
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Fatalf("%q %v", answer, err)
		}
		c.Close()
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("a thousand connections took %v", took)
	}
}

func TestTLSConnectionsAtOnce(t *testing.T) {
	if !inside(t) {
		return
	}
	j, peak := apart(t, Config{})
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 10 {
				c, err := tls.DialWithDialer(&net.Dialer{Timeout: 20 * time.Second}, "tcp", "93.184.216.34:443", &tls.Config{InsecureSkipVerify: true, ServerName: "evil.example"})
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
			}
		})
	}
	wg.Wait()
	j.wait(t, "a request", func(e Event) bool { return e.Type == TypeRequest })
	t.Logf("at most %d KiB", peak())
	if peak() > bound {
		t.Errorf("%d KiB", peak())
	}
}

func TestAnUploadIsSeenWholeInLittleMemory(t *testing.T) {
	if !inside(t) {
		return
	}
	j, peak := apart(t, Config{})
	const size = 1 << 30
	c := dial(t, "tcp", "93.184.216.34:80")
	_ = c.SetDeadline(time.Now().Add(60 * time.Second))
	fmt.Fprintf(c, "POST /up HTTP/1.1\r\nHost: up.example\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", size)
	start, chunk := time.Now(), make([]byte, 1<<20)
	for range size / len(chunk) {
		if _, err := c.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Fatalf("%q %v", answer, err)
	}
	took := time.Since(start)
	c.Close()
	e := j.wait(t, "close", func(e Event) bool { return e.Type == TypeClose })
	if e.Up < size || !e.Cut || e.Kept != 1<<20 {
		t.Errorf("%+v", e)
	}
	t.Logf("%.0f MB/s, at most %d KiB", size/1e6/took.Seconds(), peak())
	if peak() > bound {
		t.Errorf("%d KiB", peak())
	}
}

func TestHostileClientsEnd(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{Header: 300 * time.Millisecond, Idle: 600 * time.Millisecond})
	loop := "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"
	for name, c := range map[string]struct{ addr, say, kept string }{
		"slow header":      {"93.184.216.34:80", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: s", "X-Slow: s"},
		"slow body":        {"93.184.216.34:80", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\npartial", "partial"},
		"smuggling":        {"93.184.216.34:80", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n", "/smuggled"},
		"bad request":      {"93.184.216.34:80", "GET / HTTP/1.1\r\nBad Header\r\n\r\nand a secret", "and a secret"},
		"http2 garbage":    {"93.184.216.34:80", preface + "\xff\xff\xff\xff\xff\xff\xff\xff\xff", ""},
		"silence":          {"93.184.216.34:4444", "", ""},
		"malformed tls":    {"93.184.216.34:443", "\x16\x03\x01\x00\x05\x01\xff\xff\xff\xff", ""},
		"half a tls":       {"93.184.216.34:443", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc", ""},
		"dns loop":         {"93.184.216.34:53", "\x00\x12" + loop, ""},
		"half a dns":       {"93.184.216.34:53", "\xff\xffnot so long", "not so long"},
		"long line":        {"93.184.216.34:25", strings.Repeat("x", 3*maxLine) + "end", "xxend"},
		"websocket length": {"93.184.216.34:80", "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n\x82\xff\xff\xff\xff\xff\xff\xff\xff\xffabcd", ""},
	} {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, c.say)
		src := conn.LocalAddr().(*net.TCPAddr).AddrPort()
		e := j.wait(t, name, func(e Event) bool { return e.Type == TypeClose && e.Source == src })
		if got := j.data(e.Flow, ViewWire); !strings.Contains(got, c.kept) {
			t.Errorf("%s: kept %q", name, got)
		}
		if c.addr == "93.184.216.34:443" && !e.Opaque {
			t.Errorf("%s: not opaque: %+v", name, e)
		}
	}
	udp := dial(t, "udp", "93.184.216.34:53")
	fmt.Fprint(udp, loop)
	j.wait(t, "the loop", func(e Event) bool { return e.Proto == "udp" && string(e.Data) == loop })
}

func TestNoGoroutineIsLeft(t *testing.T) {
	if !inside(t) {
		return
	}
	before := runtime.NumGoroutine()
	t.Run("serve", func(t *testing.T) {
		j := arm(t, Config{})
		for _, say := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "raw", "", "\x16\x03\x01", preface} {
			fmt.Fprint(dial(t, "tcp", "93.184.216.34:8080"), say)
		}
		fmt.Fprint(dial(t, "udp", "93.184.216.34:8080"), "x")
		j.wait(t, "udp", func(e Event) bool { return e.Proto == "udp" })
		j.wait(t, "raw", func(e Event) bool { return string(e.Data) == "raw" })
	})
	limit := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(limit) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		runtime.Gosched()
	}
}
