//go:build unix

package javascript

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// BenchmarkParse measures the parser on a megabyte of each sample, repeated.
func BenchmarkParse(b *testing.B) {
	samples, err := filepath.Glob("testdata/sample/*")
	if err != nil || len(samples) == 0 {
		b.Fatal("there are no samples", err)
	}
	for _, name := range samples {
		src, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		// A "#!" line is read at the start of a file alone.
		if bytes.HasPrefix(src, []byte("#!")) {
			src = src[bytes.IndexByte(src, '\n')+1:]
		}
		src = bytes.Repeat(src, 1<<20/len(src))
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			from := cputime.Used(b)
			for b.Loop() {
				if f := (Language{}).Parse(name, src); len(f.Unread) > 0 {
					b.Fatal("the parser could not read all")
				}
			}
			// A machine with other work to do makes the time on the wall say little.
			b.ReportMetric(float64(len(src))*float64(b.N)/1e6/(cputime.Used(b)-from).Seconds(), "MB/cpu-s")
		})
	}
}
