package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// line is a line of a log.
func line(seq int, dir, frame string) string {
	return fmt.Sprintf(`{"schema_version":"0.1","seq":%d,"ts":"2026-11-01T10:32:01+00:00","dir":"%s","frame":%s,"raw":null}`+"\n", seq, dir, frame)
}

func TestAnnotatedMergesTheSame(t *testing.T) {
	log := func(lines ...string) []detect.Annotation {
		t.Helper()
		var b strings.Builder
		for i, l := range append([]string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}`, `{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"n"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}`,
		}, lines...) {
			dir := "c2s"
			if strings.Contains(l, `"result"`) {
				dir = "s2c"
			}
			b.WriteString(line(i+1, dir, l))
		}
		l, err := detect.Read(strings.NewReader(b.String()), "log", detect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return l.Annotations
	}
	call := func(id int, tool string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{}}}`, id, tool)
	}
	fs := Annotated(log(call(2, "nope"), call(3, "nope"), call(4, "other")), "logs/a.jsonl")
	if len(fs) != 2 || fs[0].Rule != cm405Doc.ID || fs[0].Severity != finding.High || len(fs[0].Evidence) != 2 || fs[0].Location.Line != 6 || fs[0].Location.Path != "logs/a.jsonl" {
		t.Fatalf("%+v", fs)
	}
	// A line above changes no identity.
	shifted := Annotated(log(`{"jsonrpc":"2.0","id":99,"method":"ping"}`, call(2, "nope")), "logs/a.jsonl")
	if shifted[0].Fingerprint != fs[0].Fingerprint || shifted[0].Location.Line != 7 {
		t.Errorf("%+v", shifted)
	}
}
