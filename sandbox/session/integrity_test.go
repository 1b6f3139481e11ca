package session

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// A wire log names its own hash and the range of its frames, and any change of a byte shows.
func TestWireLogNamesItsHash(t *testing.T) {
	t.Parallel()
	l := wireLog(t, WireOptions{Dir: t.TempDir(), What: "x", Header: WireHeader{Version: "v1", Transport: "stdio", Mode: "tap"}})
	for range 3 {
		l.Frame(WireFrame{Dir: C2S, At: time.Unix(1, 0), Raw: []byte(`{"id": 1}`)})
	}
	name := l.Name()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(data), []byte("\n"))
	for i, want := range map[int]string{
		0: `{"type": "glassport.header", "schema_version": "0.2", "coalmine_version": "v1", "transport": "stdio", "mode": "tap", "started_at": "`,
		4: `"write_failures": 0, "seq_range": [1, 3], "log_sha256": "`,
	} {
		if len(lines) != 5 || !bytes.Contains(lines[i], []byte(want)) {
			t.Errorf("%d lines, and line %d is %s", len(lines), i+1, lines[i])
		}
	}
	frames := 0
	for _, err := range ReadFrames(bytes.NewReader(data), nil) {
		if frames++; err != nil {
			t.Error(err)
		}
	}
	if frames != 3 {
		t.Errorf("%d frames are read", frames)
	}
	for what, c := range map[string]struct {
		text string
		want Integrity
	}{
		"whole":          {string(data), IntegrityKept},
		"a byte changed": {strings.Replace(string(data), `"id": 1`, `"id": 2`, 1), IntegrityChanged},
		"a line gone":    {strings.Replace(string(data), string(lines[2]), "", 1), IntegrityChanged},
		"no header":      {strings.Join(strings.SplitAfter(string(data), "\n")[1:], ""), IntegrityChanged},
		"a line after":   {string(data) + "{}\n", IntegrityNone},
		"cut off":        {string(data[:len(data)-20]), IntegrityNone},
		"empty":          {"", IntegrityNone},
		"long lines":     {strings.Repeat("x", 200<<10) + "\n" + string(data), IntegrityChanged},
	} {
		if got, err := CheckWireLog(strings.NewReader(c.text)); got != c.want || err != nil {
			t.Errorf("%s: %s %v, want %s", what, got, err, c.want)
		}
	}
}
