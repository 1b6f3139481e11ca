//go:build linux && e2e

package sinkhole

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// BenchmarkArm arms fresh namespaces, each on a thread of its own.
func BenchmarkArm(b *testing.B) {
	if !inside(b) {
		return
	}
	var each []time.Duration
	for range b.N {
		took := make(chan time.Duration)
		go func() {
			runtime.LockOSThread() // and never unlock it: the thread is spoilt for others
			defer close(took)
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				b.Error(err)
				return
			}
			start := time.Now()
			s, err := Arm(Config{})
			if err != nil {
				b.Error(err)
				return
			}
			took <- time.Since(start)
			_ = s.Close()
		}()
		each = append(each, <-took)
		<-took
	}
	slices.Sort(each)
	b.ReportMetric(float64(each[len(each)*95/100].Microseconds())/1000, "ms-p95")
}
