//go:build unix

package python

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// BenchmarkParse parses the sources of testdata many times over, as one file.
func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	for _, name := range samples(b) {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if !slices.Contains([]string{"bom.py", "cp1251.py", "latin1.py", "cr.py"}, filepath.Base(name)) {
			text.Write(data)
			text.WriteByte('\n')
		}
	}
	src := []byte(strings.Repeat(text.String(), 1+(1<<20)/text.Len()))
	if f := (Language{}).Parse("bench.py", src); len(f.Unread) > 0 {
		b.Fatalf("%+v", f.Unread[0])
	}
	b.Run("parse", func(b *testing.B) {
		from := cputime.Used(b)
		for b.Loop() {
			Language{}.Parse("bench.py", src)
		}
		// A machine with other work to do makes the time on the wall say little.
		b.ReportMetric(float64(len(src))*float64(b.N)/1e6/(cputime.Used(b)-from).Seconds(), "MB/cpu-s")
	})
	b.Run("facts", func(b *testing.B) {
		f := Language{}.Parse("bench.py", src)
		from := cputime.Used(b)
		for b.Loop() {
			lang.CalculateFacts(f)
		}
		b.ReportMetric(float64(len(src))*float64(b.N)/1e6/(cputime.Used(b)-from).Seconds(), "MB/cpu-s")
	})
}
