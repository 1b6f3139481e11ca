package detect

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestALongTextIsReadOnce(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("long text ", leastKnown), "short"
	var read atomic.Int32
	count := func(s string) int { read.Add(1); return len(s) }
	for _, c := range []struct {
		name  string
		known *Known
		ask   func(k *Known)
		want  int32
	}{
		{"again", &Known{}, func(k *Known) { Once(k, "length", long, count); Once(k, "length", long, count) }, 1},
		{"another reader", &Known{}, func(k *Known) { Once(k, "length", long, count); Once(k, "size", long, count) }, 2},
		{"another text", &Known{}, func(k *Known) { Once(k, "length", long, count); Once(k, "length", long+".", count) }, 2},
		{"short texts", &Known{}, func(k *Known) { Once(k, "length", short, count); Once(k, "length", short, count) }, 2},
		{"nothing to remember with", nil, func(k *Known) { Once(k, "length", long, count); Once(k, "length", long, count) }, 2},
	} {
		read.Store(0)
		if c.ask(c.known); read.Load() != c.want {
			t.Errorf("%s: read %d times, not %d", c.name, read.Load(), c.want)
		}
	}
	var wg sync.WaitGroup
	k := &Known{}
	for range 8 {
		wg.Go(func() {
			if n := Once(k, "length", long, count); n != len(long) {
				t.Errorf("read %d bytes of %d", n, len(long))
			}
		})
	}
	wg.Wait()
	for i := range maxKnown + 10 {
		Once(k, "length", long+strings.Repeat("x", i%100)+strings.Repeat("y", i/100), count)
	}
	if len(k.of) > maxKnown {
		t.Errorf("%d texts are remembered, more than %d", len(k.of), maxKnown)
	}
}
