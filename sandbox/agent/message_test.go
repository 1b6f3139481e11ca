package agent

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

func TestConfigOfAnySizeComesThrough(t *testing.T) {
	for _, size := range []int{0, mux.MaxPayload / 2, 3 * mux.MaxPayload} {
		want := &Config{Command: []string{"x", "y"}, Env: []string{"A=b"}, User: User{UID: 1000},
			Limits: Limits{Wall: time.Minute}, Files: []rootfs.File{{Path: "/f", Data: bytes.Repeat([]byte("z"), size)}}}
		var b bytes.Buffer
		w := mux.NewWriter(&b)
		if err := WriteConfig(w, want); err != nil {
			t.Fatal(err)
		}
		if err := WriteCommand(w, Command{Type: "stop", Grace: time.Second}); err != nil {
			t.Fatal(err)
		}
		r := mux.NewReader(&b)
		got, err := ReadConfig(r)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			got.Files[0].Data = want.Files[0].Data // an empty slice is not written
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("size %d: the Config changed", size)
		}
		if f, err := r.Next(); err != nil || string(f.Payload) != `{"type":"stop","grace":1000000000}` {
			t.Errorf("the command after it is %q, %v", f.Payload, err)
		}
	}
}

func TestConfigIsRefused(t *testing.T) {
	frame := func(s mux.Stream, text string) mux.Frame { return mux.Frame{Stream: s, Payload: []byte(text)} }
	for want, frames := range map[string][]mux.Frame{
		"EOF":              nil,
		"a stdin frame":    {frame(mux.Stdin, "x")},
		"decode":           {frame(mux.Control, "{"), {}},
		"names no command": {frame(mux.Control, "{}"), {}},
	} {
		var b bytes.Buffer
		w := mux.NewWriter(&b)
		for _, f := range frames {
			if err := w.Write(f); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ReadConfig(mux.NewReader(&b)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
