package sinkhole

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

func BenchmarkConnections(b *testing.B) {
	if !inside(b) {
		return
	}
	armWith(b, Config{}, func(Event) {})
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			c, err := net.Dial("tcp", "93.184.216.34:80")
			if err != nil {
				b.Error(err)
				return
			}
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "conns/s")
}

func BenchmarkUpload(b *testing.B) {
	if !inside(b) {
		return
	}
	armWith(b, Config{}, func(Event) {})
	c := dial(b, "tcp", "93.184.216.34:4444")
	_ = c.SetDeadline(time.Time{})
	chunk := make([]byte, 1<<20)
	b.SetBytes(int64(len(chunk)))
	b.ResetTimer()
	for range b.N {
		if _, err := c.Write(chunk); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkArm arms one namespace again and again; the table grows, so this is
// more than the first time takes.
func BenchmarkArm(b *testing.B) {
	if !inside(b) {
		return
	}
	for range b.N {
		s, err := Arm(Config{})
		if err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
}
