package sinkhole

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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
