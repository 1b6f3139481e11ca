//go:build linux && e2e

package sinkhole

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestLoopbackIsAnsweredOnDemand(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{AnswerLoopback: true})
	for _, host := range []string{"127.0.0.1", "[::1]", "127.9.9.9"} {
		own, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := own.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "mine")
				c.Close()
			}
		}()
		for range 3 {
			if got, err := io.ReadAll(dial(t, "tcp", own.Addr().String())); err != nil || string(got) != "mine" {
				t.Errorf("%s: %q, %v", host, got, err)
			}
		}
		resp, err := http.Post("http://"+host+":4318/v1/traces", "text/plain", strings.NewReader("posted to "+host))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		e := j.wait(t, host, func(e Event) bool { return e.Type == TypeData && strings.Contains(string(e.Data), "posted to "+host) })
		if e.Dest.String() != host+":4318" {
			t.Errorf("%+v", e)
		}
		ownUDP, err := net.ListenPacket("udp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(dial(t, "udp", ownUDP.LocalAddr().String()), "mine")
		_ = ownUDP.SetReadDeadline(time.Now().Add(5 * time.Second))
		b := make([]byte, 16)
		if n, _, err := ownUDP.ReadFrom(b); err != nil || string(b[:n]) != "mine" {
			t.Errorf("%s: %q %v", host, b[:n], err)
		}
		fmt.Fprint(dial(t, "udp", host+":8125"), "metric to "+host)
		j.wait(t, "metric", func(e Event) bool { return string(e.Data) == "metric to "+host })
		if _, found := j.find(func(e Event) bool { return strings.Contains(string(e.Data), "mine") || e.Dest == addrPort(own.Addr()) }); found {
			t.Errorf("%s: what is the target's own was diverted", host)
		}
		own.Close()
		ownUDP.Close()
	}
	if _, found := j.find(func(e Event) bool { return e.Type == TypeRefused || e.Type == TypeLoss }); found {
		t.Error("something was refused or lost")
	}
}

func TestPacketsOfOtherProtocolsAreKept(t *testing.T) {
	if !inside(t) {
		return
	}
	j := arm(t, Config{})
	for _, c := range []struct {
		family, proto int
		to            unix.Sockaddr
		packet, want  string
	}{
		{unix.AF_INET, unix.IPPROTO_ICMP, &unix.SockaddrInet4{Addr: [4]byte{8, 8, 8, 8}}, "\x08\x00\xf7\xff\x00\x00\x00\x00", "icmp"},
		{unix.AF_INET6, unix.IPPROTO_ICMPV6, &unix.SockaddrInet6{Addr: [16]byte{0x20, 1, 15: 9}}, "\x80\x00\x00\x00\x00\x01\x00\x01", "icmp"},
		{unix.AF_INET, 132, &unix.SockaddrInet4{Addr: [4]byte{8, 8, 8, 8}}, "", "ip-132"},
		{unix.AF_INET, 47, &unix.SockaddrInet4{Addr: [4]byte{224, 0, 0, 5}}, "", "ip-47"},
		{unix.AF_INET, 47, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, "", "ip-47"},
		{unix.AF_INET6, 47, &unix.SockaddrInet6{Addr: [16]byte{0x20, 1, 15: 9}}, "", "ip-47"},
	} {
		fd, err := unix.Socket(c.family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, c.proto)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("raw %d %v", c.proto, c.to)
		if err := unix.Sendto(fd, []byte(c.packet+text), 0, c.to); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		unix.Close(fd)
		e := j.wait(t, text, func(e Event) bool { return e.Type == TypeData && string(e.Data) == text })
		if e.Proto != c.want || !e.Dest.IsValid() {
			t.Errorf("%+v", e)
		}
	}
	for _, to := range []string{"224.0.0.251:5353", "255.255.255.255:9", "239.1.2.3:1900", "[ff02::1]:9", "[ff02::fb%lo]:5353"} {
		c, err := net.ListenPacket("udp", ":0")
		if err != nil {
			t.Fatal(err)
		}
		a, _ := net.ResolveUDPAddr("udp", to)
		if _, err := c.WriteTo([]byte("many at "+to), a); err != nil {
			t.Fatal(err)
		}
		e := j.wait(t, to, func(e Event) bool { return string(e.Data) == "many at "+to })
		if e.Dest.Addr() != a.AddrPort().Addr().Unmap().WithZone("") || e.Proto != "udp" {
			t.Errorf("%+v", e)
		}
		if _, refused := j.find(func(r Event) bool { return r.Flow == e.Flow && r.Type == TypeRefused }); refused {
			t.Errorf("%s was refused", to)
		}
		c.Close()
	}
}

// What the kernel drops of its copies is told to the packet.
func TestCopiesThatAreDroppedAreCounted(t *testing.T) {
	if !inside(t) {
		return
	}
	c := Config{Mode: ModeRefuse, MaxFlow: 1 << 30, MaxRun: 1 << 30}
	s, err := Arm(c)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	to := &unix.SockaddrInet4{Port: 9, Addr: [4]byte{8, 8, 8, 8}}
	sent := 0
	send := func(p []byte) {
		if err := unix.Sendto(fd, p, 0, to); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	for filler := make([]byte, 8000); sent < 5000; {
		send(filler)
	}
	j := newJournal()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, s.Files, c, j.emit) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = s.Close()
	}()
	j.wait(t, "that copies were dropped", func(e Event) bool { return e.Type == TypeLoss })
	last := func(e Event) bool { return string(e.Data) == "the last" }
	for deadline := now() + 10*time.Second; ; runtime.Gosched() { // until the queue has room again
		if _, seen := j.find(last); seen {
			break
		}
		if now() > deadline {
			t.Fatal("nothing was seen after the flood")
		}
		send([]byte("the last"))
	}
	dropped := func(e Event) bool { return e.Type == TypeLoss && strings.HasPrefix(e.Error, "the kernel dropped") }
	j.wait(t, "how many", dropped)
	for deadline := now() + 10*time.Second; ; runtime.Gosched() { // some of the last ones are still on their way
		lost, _ := j.find(dropped)
		seen := j.count(func(e Event) bool { return e.Type == TypeData })
		if lost.N > 0 && seen+int(lost.N) == sent {
			break
		}
		if now() > deadline {
			t.Fatalf("%d sent, %d seen, %d said to be lost", sent, seen, lost.N)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	if !inside(t) {
		return
	}
	var mu sync.Mutex
	scanned := 0
	j := arm(t, Config{MaxFlow: 1000, MaxRun: 2500, Scan: func(Stream) io.WriteCloser {
		return counter(func(n int) {
			mu.Lock()
			defer mu.Unlock()
			scanned += n
		})
	}})
	kept := int64(0)
	for i := range 4 {
		c := dial(t, "tcp", "93.184.216.34:4444")
		_, _ = io.WriteString(c, strings.Repeat("x", 3000))
		src := addrPort(c.LocalAddr())
		c.Close()
		e := j.wait(t, "close", func(e Event) bool { return e.Type == TypeClose && e.Source == src })
		if want := []int64{1000, 1000, 500, 0}[i]; e.Kept != want || e.Up != 3000 || !e.Cut {
			t.Errorf("flow %d kept %d of %d, cut %v", i, e.Kept, e.Up, e.Cut)
		}
		kept += e.Kept
	}
	mu.Lock()
	defer mu.Unlock()
	if kept != 2500 || scanned != 12000 {
		t.Errorf("kept %d, scanned %d", kept, scanned)
	}
}

// counter is told how much is written.
type counter func(int)

func (c counter) Write(p []byte) (int, error) { c(len(p)); return len(p), nil }
func (counter) Close() error                  { return nil }
