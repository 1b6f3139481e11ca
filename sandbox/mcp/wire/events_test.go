package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// eventsOf feeds a stream in chunks that cuts says, and copies what is emitted.
func eventsOf(stream []byte, max int, cut func(int) int) (events []Event, raw []byte) {
	s := NewEventSplitter(max)
	emit := func(e Event) {
		raw = append(raw, e.Raw...)
		e.Raw = bytes.Clone(e.Raw)
		events = append(events, e)
	}
	for len(stream) > 0 {
		n := cut(len(stream))
		s.Feed(stream[:n], emit)
		stream = stream[n:]
	}
	s.Flush(emit)
	return events, raw
}

func TestEvents(t *testing.T) {
	stream := "event: message\nid: 7\nretry: 100\ndata: {\"a\":\ndata:1}\n\n: a comment\n\nevent:endpoint\r\ndata: /m?x=1\r\n\r\ndata\n\nid: 8\ndata:\n\rdata: rest" //nolint:dupword // that is what such streams look like
	got, raw := eventsOf([]byte(stream), 0, func(n int) int { return n })
	if string(raw) != stream {
		t.Errorf("the stream came out as %q", raw)
	}
	for i := range got {
		got[i].Raw = nil
	}
	want := []Event{
		{Name: "message", ID: "7", Retry: "100", Data: []byte("{\"a\":\n1}")},
		{},
		{Name: "endpoint", Data: []byte("/m?x=1")},
		{Data: []byte{}},
		{ID: "8", Data: []byte{}},
		{Partial: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOversizeEvent(t *testing.T) {
	stream := "data: " + strings.Repeat("x", 100) + "\ndata: y\n\ndata: next\n\n"
	got, raw := eventsOf([]byte(stream), 50, func(n int) int { return min(n, 7) })
	if string(raw) != stream {
		t.Errorf("the stream came out as %q", raw)
	}
	last := got[len(got)-1]
	if last.Oversize || string(last.Data) != "next" || len(last.Raw) != len("data: next\n\n") {
		t.Errorf("after the long one came %+v", last)
	}
	for _, e := range got[:len(got)-1] {
		if !e.Oversize || e.Data != nil {
			t.Errorf("a piece of the long one is %+v", e)
		}
	}
}

// However a stream is cut, the same data come out, and all bytes of it.
func TestEventsAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"data: a", "data:b", "id: 1", "event: e", "\n", "\n", "\r\n", ": c", "\n\n", "\r\n\r\n"})).Draw(t, "parts")
		stream := []byte(strings.Join(parts, ""))
		whole, _ := eventsOf(stream, 0, func(n int) int { return n })
		cut, raw := eventsOf(stream, 0, func(n int) int { return rapid.IntRange(1, n).Draw(t, "cut") })
		if !bytes.Equal(raw, stream) {
			t.Fatalf("%q came out as %q", stream, raw)
		}
		data := func(events []Event) (out []string) {
			for _, e := range events {
				if e.Data != nil {
					out = append(out, e.Name+"|"+e.ID+"|"+string(e.Data))
				}
			}
			return out
		}
		if diff := cmp.Diff(data(whole), data(cut)); diff != "" {
			t.Fatalf("%q: %s", stream, diff)
		}
	})
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: a\ndata: b\r\n\r\nid:\x00\rretry:1\n\n"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		size = max(1, min(size, 1<<10))
		for _, limit := range []int{0, 16} {
			if _, raw := eventsOf(stream, limit, func(n int) int { return min(n, size) }); !bytes.Equal(raw, stream) {
				t.Fatalf("%q came out as %q", stream, raw)
			}
		}
	})
}
