package python

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Language{}.Parse("bench.py", src)
	}
}
