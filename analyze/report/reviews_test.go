package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Reviews show each finding at its line of the configuration, and no text of a server's
// begins a command of the runner's.
func TestReviews(t *testing.T) {
	t.Parallel()
	var logs []json.RawMessage
	for _, target := range []string{"one", "two"} {
		res := sample("evil\n::set-env name=X::y%0A::error::z\r")
		res.Run.Target = target
		var b bytes.Buffer
		if err := SARIF(&b, res, SARIFOptions{Default: At("a:b,c/.mcp.json")}); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, b.Bytes())
	}
	var notes, quality bytes.Buffer
	if err := Annotations(&notes, logs...); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(notes.String(), "\n"), "\n")
	for _, line := range lines {
		if command, _, _ := strings.Cut(line, " "); command != "::error" && command != "::warning" && command != "::notice" || strings.ContainsAny(line, "\r\v\u2028") || !strings.Contains(line, " file=a%3Ab%2Cc/.mcp.json,line=1,title=") && !strings.Contains(line, " file=src/a b.js,line=3,col=7,title=") {
			t.Errorf("%q", line)
		}
	}
	if err := CodeQuality(&quality, logs...); err != nil {
		t.Fatal(err)
	}
	var entries []map[string]any
	if err := json.Unmarshal(quality.Bytes(), &entries); err != nil {
		t.Fatal(err)
	}
	seen, places := map[string]bool{}, map[string]int{}
	for _, e := range entries {
		id, _ := e["fingerprint"].(string)
		if e["description"] == "" || e["check_name"] == "" || e["severity"] == "" || len(id) != 32 || seen[id] {
			t.Errorf("%v", e)
		}
		seen[id] = true
		at, _ := json.Marshal(e["location"])
		places[string(at)]++
	}
	want := map[string]int{`{"lines":{"begin":1},"path":"a:b,c/.mcp.json"}`: len(lines) - 2, `{"lines":{"begin":3},"path":"src/a b.js"}`: 2}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	if len(entries) != len(lines) || len(lines) < 2 {
		t.Errorf("%d annotations, %d entries", len(lines), len(entries))
	}
	if err := Annotations(&notes, json.RawMessage(`7`)); err == nil {
		t.Error("what is no SARIF is read")
	}
}
