package tui

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// BenchmarkMillion opens a log of a million frames: until the first screen, until the whole index is
// there, and then pages all over it.
func BenchmarkMillion(b *testing.B) {
	path := filepath.Join(b.TempDir(), "million.jsonl")
	writeLog(b, path, millionLog)
	for b.Loop() {
		began := time.Now()
		m, err := New(context.Background(), Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
		s := m.top().(*stream)
		built := make(chan struct{})
		s.stop = func() {}
		go func() {
			defer close(built)
			s.x.Build(s.ctx, false)
		}()
		m.Update(s.wait()())
		if !strings.Contains(m.View().Content, "initialize") {
			b.Fatal("the first screen shows no frame")
		}
		b.ReportMetric(time.Since(began).Seconds(), "first-s")
		<-built
		m.Update(indexMsg{s.x})
		b.ReportMetric(time.Since(began).Seconds(), "index-s")
		worst := time.Duration(0)
		for i := range 200 {
			began := time.Now()
			s.set(s.n / 200 * i)
			m.Update(tea.KeyPressMsg{Code: tea.KeyPgDown})
			_ = m.View()
			worst = max(worst, time.Since(began))
		}
		b.ReportMetric(float64(worst.Microseconds())/1000, "scroll-ms")
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		b.ReportMetric(float64(mem.HeapAlloc)/(1<<20), "heap-MB")
		if s.n != 1_000_000 && s.n != 1_000_001 {
			b.Fatalf("%d frames", s.n)
		}
		m.close()
	}
}
