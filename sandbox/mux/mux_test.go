package mux

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func genFrame(t *rapid.T) Frame {
	return Frame{
		Stream:  Stream(rapid.IntRange(0, int(streams)-1).Draw(t, "stream")),
		Stamp:   time.Duration(rapid.Int64Range(0, 1<<62).Draw(t, "stamp")),
		Payload: rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "payload"),
	}
}

func TestFramesComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(genFrame), 0, 20).Draw(t, "frames")
		var b bytes.Buffer
		w := NewWriter(&b)
		for _, f := range want {
			if err := w.Write(f); err != nil {
				t.Fatal(err)
			}
		}
		r := NewReader(iotest.OneByteReader(&b))
		for _, f := range want {
			got, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if got.Stream != f.Stream || got.Stamp != f.Stamp || !bytes.Equal(got.Payload, f.Payload) {
				t.Fatalf("got %v, want %v", got, f)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last frame: %v", err)
		}
	})
}

func header(stream byte, stamp uint64, size uint32) []byte {
	b := []byte{magic, stream}
	for i := range 8 {
		b = append(b, byte(stamp>>(8*i)))
	}
	for i := range 4 {
		b = append(b, byte(size>>(8*i)))
	}
	return b
}

func TestMalformedFramesNameTheirOffset(t *testing.T) {
	good := append(header(2, 5, 3), "abc"...)
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"not a frame":   {[]byte("HTTP/1.1 200 OK\r\n\r\n"), "byte 0x48 where a frame begins"},
		"stream":        {header(byte(streams), 0, 0), "unknown stream 7"},
		"size":          {header(2, 0, MaxPayload+1), "over the bound"},
		"largest size":  {header(2, 0, 1<<32-1), "over the bound"},
		"stamp":         {header(2, 1<<63, 0), "negative stamp"},
		"cut header":    {header(2, 0, 0)[:9], "header: unexpected EOF"},
		"cut payload":   {append(header(2, 0, 9), "abc"...), "9 bytes: unexpected EOF"},
		"empty payload": {header(2, 0, 9), "9 bytes: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(append(bytes.Clone(good), c.bytes...)))
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			_, err := r.Next()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "offset 17") {
				t.Errorf("error %v, want %q at offset 17", err, c.want)
			}
			if _, again := r.Next(); !errors.Is(again, err) {
				t.Errorf("the error is not final: %v", again)
			}
		})
	}
}

func TestWriterRefusesWhatAReaderWould(t *testing.T) {
	w := NewWriter(io.Discard)
	if err := w.Write(Frame{Stream: Stdout, Payload: make([]byte, MaxPayload+1)}); err == nil {
		t.Error("an oversize frame was written")
	}
	if err := w.Write(Frame{Stream: streams}); err == nil {
		t.Error("a frame of an unknown stream was written")
	}
	if err := w.Write(Frame{Stream: Stdout, Payload: make([]byte, MaxPayload)}); err != nil {
		t.Error(err)
	}
}

type countWriter struct {
	calls int
	fail  error
}

func (c *countWriter) Write(p []byte) (int, error) { c.calls++; return len(p), c.fail }

func TestOneWriteAFrameFromManyGoroutines(t *testing.T) {
	var c countWriter
	w := NewWriter(&c)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				_ = w.Write(Frame{Stream: Stderr, Payload: []byte("x")})
			}
		})
	}
	wg.Wait()
	if c.calls != 800 {
		t.Errorf("%d writes for 800 frames", c.calls)
	}
	broken := errors.New("broken pipe")
	c.fail = broken
	if err := w.Write(Frame{}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	c.fail = nil
	if err := w.Write(Frame{}); !errors.Is(err, broken) {
		t.Error("writing went on after a failure")
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{})
	f.Add(header(0, 0, 0))
	f.Add(append(header(4, 7, 3), "abc"...))
	f.Add(header(2, 1<<63, 1<<31))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		var out bytes.Buffer
		w := NewWriter(&out)
		for {
			fr, err := r.Next()
			if err != nil {
				break
			}
			if err := w.Write(fr); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(data, out.Bytes()) {
			t.Error("accepted frames do not write back as they were read")
		}
	})
}
