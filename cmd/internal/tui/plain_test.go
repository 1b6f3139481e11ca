package tui

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlain compares the plain lines with the kept ones. They hold nothing that acts on a terminal.
func TestPlain(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	for name, o := range map[string]Options{
		"session": {Path: "weather.jsonl"}, "errors": {Path: "weather.jsonl", Filter: "errors"}, "hostile": {Path: "hostile.jsonl"},
		"run": {Path: "leaky"}, "directory": {Path: "."},
	} {
		var b bytes.Buffer
		o.Path, o.Out, o.Version = filepath.Join(dir, o.Path), &b, "test"
		if err := Plain(context.Background(), o); err != nil {
			t.Fatal(name, err)
		}
		for _, c := range b.String() {
			if c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 {
				t.Errorf("%s: %U would act on the terminal", name, c)
			}
		}
		kept := filepath.Join("testdata", "plain", name+".txt")
		if *update {
			if err := os.WriteFile(kept, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(kept)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-kept +now):\n%s", name, diff)
		}
	}
}
