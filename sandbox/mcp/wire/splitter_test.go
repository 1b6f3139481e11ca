package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// seen is a Line that outlives emit.
type seen struct {
	Raw               string
	Oversize, Partial bool
	Len               int
}

func split(limit int, chunks ...[]byte) []seen {
	var out []seen
	s := NewSplitter(limit)
	emit := func(l Line) { out = append(out, seen{string(l.Raw), l.Oversize, l.Partial, l.Len}) }
	for _, c := range chunks {
		s.Feed(c, emit)
	}
	s.Flush(emit)
	return out
}

// reference cuts lines the plain way, from the whole stream.
func reference(limit int, stream []byte) []seen {
	var out []seen
	parts := bytes.Split(stream, []byte("\n"))
	for i, p := range parts {
		partial := i == len(parts)-1
		if partial && len(p) == 0 {
			break
		}
		if !partial {
			p = bytes.TrimSuffix(p, []byte("\r"))
		}
		l := seen{string(p), false, partial, len(p)}
		if len(p) > limit {
			l = seen{string(p[:min(len(p), limit, HeadSize)]), true, partial, len(p)}
		}
		out = append(out, l)
	}
	return out
}

func TestSplitter(t *testing.T) {
	tests := []struct {
		name  string
		limit int
		in    []string
		want  []seen
	}{
		{"nothing", 8, nil, nil},
		{"empty line", 8, []string{"\n"}, []seen{{"", false, false, 0}}},
		{"one line in pieces", 8, []string{"a", "", "bc", "\n"}, []seen{{"abc", false, false, 3}}},
		{"carriage return", 8, []string{"ab\r", "\nc\r\n"}, []seen{{"ab", false, false, 2}, {"c", false, false, 1}}},
		{"carriage return inside", 8, []string{"a\rb\n"}, []seen{{"a\rb", false, false, 3}}},
		{"exactly the maximum", 4, []string{"abcd\r\nefgh\n"}, []seen{{"abcd", false, false, 4}, {"efgh", false, false, 4}}},
		{"oversize once, then in step again", 4, []string{"abc", "defgh", "ij\nok\n"}, []seen{{"abcd", true, false, 10}, {"ok", false, false, 2}}},
		{"oversize by a carriage return", 4, []string{"abcd\r", "x\nok\n"}, []seen{{"abcd", true, false, 6}, {"ok", false, false, 2}}},
		{"stream ends in a line", 8, []string{"a\nbc"}, []seen{{"a", false, false, 1}, {"bc", false, true, 2}}},
		{"stream ends in an oversize line", 2, []string{"abc", "de"}, []seen{{"ab", true, true, 5}}},
		{"NUL bytes are bytes", 8, []string{"a\x00b\n"}, []seen{{"a\x00b", false, false, 3}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var chunks [][]byte
			for _, c := range tt.in {
				chunks = append(chunks, []byte(c))
			}
			if diff := cmp.Diff(tt.want, split(tt.limit, chunks...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSplitterHeadOfALongLine(t *testing.T) {
	got := split(1<<20, []byte(strings.Repeat("x", 3<<20)+"\nok\n"))
	if len(got) != 2 || len(got[0].Raw) != HeadSize || got[0].Len != 3<<20 || !got[0].Oversize || got[1].Raw != "ok" {
		t.Errorf("got %d lines, first of %d bytes kept, %d long", len(got), len(got[0].Raw), got[0].Len)
	}
}

func TestSplitterHoldsNoMoreThanALine(t *testing.T) {
	s := NewSplitter(1 << 16)
	chunk := bytes.Repeat([]byte("x"), 1<<16)
	for range 1000 {
		s.Feed(chunk, func(Line) { t.Fatal("a line without an end") })
	}
	if cap(s.buf) > 2<<16 {
		t.Errorf("holds %d bytes of a line that it will not return", cap(s.buf))
	}
}

func TestSplitterGap(t *testing.T) {
	var got []string
	s := NewSplitter(8)
	emit := func(l Line) { got = append(got, string(l.Raw)) }
	s.Feed([]byte("one\ntw"), emit)
	s.Gap()
	s.Feed([]byte("rest of a line\nnext\n"), emit)
	s.Gap()
	s.Flush(emit)
	if want := []string{"one", "next"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplitterAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		stream := rapid.SliceOf(rapid.SampledFrom([]byte("ab\r\n\n\x00"))).Draw(t, "stream")
		var chunks [][]byte
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			chunks = append(chunks, slices.Clone(rest[:n]))
			rest = rest[n:]
		}
		if diff := cmp.Diff(reference(limit, stream), split(limit, chunks...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\r\nb\n\nc"), 3, uint8(2))
	f.Add([]byte("{\"jsonrpc\":\"2.0\"}\nbanner\n"), 4096, uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, limit int, size uint8) {
		limit = max(1, limit&0xffff)
		chunks := slices.Collect(slices.Chunk(stream, int(size)+1))
		if want, got := reference(limit, stream), split(limit, chunks...); !slices.Equal(want, got) {
			t.Error(cmp.Diff(want, got))
		}
	})
}
