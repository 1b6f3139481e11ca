//go:build linux && e2e

package attacks

import (
	"net"
	"path/filepath"
	"testing"
)

// Who came just before the count is counted, and who counts is not.
func TestVisitorsAreCounted(t *testing.T) {
	l, err := listen("rt"+word(6), filepath.Join(t.TempDir(), "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for want := range int64(20) {
		if got, err := l.count(); got != want*int64(len(l.doors)) || err != nil {
			t.Fatalf("%d, %v, want %d of each of %d", got, err, want, len(l.doors))
		}
		for _, d := range l.doors {
			c, err := net.Dial(d[0], d[1])
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write([]byte("x"))
			_ = c.Close()
		}
	}
}
