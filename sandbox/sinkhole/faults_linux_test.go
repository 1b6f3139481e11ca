//go:build linux && e2e

package sinkhole

import (
	"bytes"
	"compress/gzip"
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
	if !insideWith(t, 4) {
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
	// Each was seen, or it is said that some were not.
	_, lost := j.find(func(e Event) bool { return e.Type == TypeLoss })
	var seen int
	for deadline := now() + 10*time.Second; ; {
		if seen = j.count(func(e Event) bool { return string(e.Data) == "one of many" }); seen == len(conns) || now() > deadline {
			break
		}
		runtime.Gosched()
	}
	if seen < len(conns) && !lost {
		t.Errorf("%d of %d were seen, and no loss is told", seen, len(conns))
	}
	t.Logf("%d connections, %d failed, %d seen, loss %v, at most %d KiB", len(conns), failed, seen, lost, peak())
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
	if !insideWith(t, 4) {
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
	if !insideWith(t, 4) {
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
	if !insideWith(t, 4) {
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
	if !insideWith(t, 4) {
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
		if (c.addr == "93.184.216.34:443" || name == "http2 garbage") && !e.Opaque {
			t.Errorf("%s: not opaque: %+v", name, e)
		}
	}
	udp := dial(t, "udp", "93.184.216.34:53")
	fmt.Fprint(udp, loop)
	j.wait(t, "the loop", func(e Event) bool { return e.Proto == "udp" && string(e.Data) == loop })
}

func TestSlowClientsDoNotKeepOthersOut(t *testing.T) {
	if !insideWith(t, 4) {
		return
	}
	const busy = 32
	j := arm(t, Config{Header: time.Second, MaxBusy: busy, MaxConns: 128})
	stop := make(chan struct{})
	var slow sync.WaitGroup
	for i := range 100 {
		c := dial(t, "tcp", "93.184.216.34:80")
		slow.Go(func() {
			defer c.Close()
			_, err := fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: slow.example\r\nX: ", i)
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for err == nil {
				select {
				case <-tick.C:
					_, err = io.WriteString(c, "x")
				case <-stop:
					return
				}
			}
		})
	}
	j.wait(t, "all places taken", func(Event) bool {
		return j.countLocked(func(e Event) bool { return strings.HasPrefix(string(e.Data), "GET /") }) >= busy
	})
	c := dial(t, "tcp", "93.184.216.34:80")
	fmt.Fprint(c, "GET /honest HTTP/1.1\r\nHost: honest.example\r\nConnection: close\r\n\r\n")
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("%q %v", answer, err)
	}
	close(stop)
	slow.Wait()
	j.wait(t, "the honest one", func(e Event) bool { return e.Type == TypeRequest && e.Path == "/honest" })
	for i := range 100 { // whatever became of it, what it said is there
		j.wait(t, "a slow one", func(e Event) bool { return strings.HasPrefix(string(e.Data), fmt.Sprintf("GET /%d HTTP", i)) })
	}
}

// zip is a stream of gzip that says it is size bytes of nothing.
func zip(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.CopyN(w, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestABombIsOnlyItsOwnBytes(t *testing.T) {
	if !insideWith(t, 4) {
		return
	}
	j, peak := apart(t, Config{})
	bomb := zip(t, 64<<20)
	c := dial(t, "tcp", "93.184.216.34:80")
	fmt.Fprintf(c, "POST /bomb HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", len(bomb))
	_, _ = c.Write(bomb)
	if answer, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
		t.Errorf("%q %v", answer, err)
	}
	c.Close()
	e := j.wait(t, "close", func(e Event) bool { return e.Type == TypeClose })
	if e.Up < int64(len(bomb)) || !strings.HasSuffix(j.data(e.Flow, ViewWire), string(bomb)) {
		t.Errorf("%d bytes of %d: %+v", e.Up, len(bomb), e)
	}
	if peak() > bound {
		t.Errorf("%d KiB", peak())
	}
}

// Headers that HPACK hides are in no view if the server does not understand them.
func TestHTTP2ThatIsNotUnderstoodIsOpaque(t *testing.T) {
	if !insideWith(t, 4) {
		return
	}
	j := arm(t, Config{})
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	for name, frame := range map[string]string{
		"a table entry that is not there": "\x00\x00\x01\x01\x05\x00\x00\x00\x01\xff",
		"an even stream":                  "\x00\x00\x01\x01\x05\x00\x00\x00\x02\x82",
		"data on no stream":               "\x00\x00\x03\x00\x01\x00\x00\x00\x00abc",
	} {
		c := dial(t, "tcp", "93.184.216.34:80")
		fmt.Fprint(c, preface+settings+frame)
		_, _ = io.Copy(io.Discard, c)
		src := addrPort(c.LocalAddr())
		if e := j.wait(t, name, func(e Event) bool { return e.Type == TypeClose && e.Source == src }); !e.Opaque {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	if !insideWith(t, 4) {
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

func TestLossesAreToldInFull(t *testing.T) {
	var told []string
	r := &reporter{emit: func(e Event) { told = append(told, fmt.Sprint(e.Error, " ", e.N)) }}
	for range 7 {
		r.loss("a", 1)
	}
	r.lost("b", 0, 0)
	r.lost("c", 0, 100)
	r.stop()
	r.loss("d", 0)
	if got := strings.Join(told, ", "); got != "a 1, a 2, a 4, c 100, a 7" {
		t.Error(got)
	}
}
