package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// changedSurface is a run in whose call another listing had each kind of change.
func changedSurface(call int) *Run {
	r := newRun(silent)
	for i, c := range []wire.Change{{Tool: "do", Kind: wire.Redeclared}, {Tool: "format_note", Kind: wire.Appeared}, {Tool: "do", Kind: wire.Disappeared}, {Tool: strings.Repeat("x", 100), Kind: wire.Appeared}} {
		r.Wire.Changes = append(r.Wire.Changes, ToolChange{Fact: Fact{Seq: uint64(8 + i), Call: call, Tool: c.Tool}, Kind: c.Kind})
	}
	return r
}

// The fingerprints of version 1 stand in baselines and policies: they were taken down
// from what that version said.
func TestSurfaceChangedKeepsItsPreviousFingerprints(t *testing.T) {
	want := []string{"3937c25ceddc75b720d09ba6e9f90921", "e7333cc61a3d23193f743303f062a9f9", "8fdb51babfba00647860db86f43e721d", "a016c3a2d056615f603d550cb6e2d50c"}
	for i, f := range checkCM501(changedSurface(0)) {
		if !slices.Equal(f.PreviousFingerprints, want[i:i+1]) {
			t.Errorf("%s: %q, want %s", f.Message, f.PreviousFingerprints, want[i])
		}
	}
}

// listings is a log of a session in which the tools were listed so.
func listings(t *testing.T, lists ...string) []detect.Annotation {
	t.Helper()
	var b strings.Builder
	for i, tools := range lists {
		b.WriteString(line(2*i+1, "c2s", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i)))
		b.WriteString(line(2*i+2, "s2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}`, i, tools)))
	}
	l, err := detect.Read(strings.NewReader(b.String()), "log", detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Annotations
}

// The same change is the same finding, whether a run showed it or a log did.
func TestSurfaceChangedIsOneInRunsAndLogs(t *testing.T) {
	long := `{"name":"` + strings.Repeat("x", 100) + `"}`
	as := listings(t, `{"name":"do"},{"name":"a"}`, `{"name":"do","description":"x"},{"name":"a"},{"name":"format_note"},`+long, `{"name":"a"}`)
	logged := map[string]finding.Finding{}
	for _, f := range Annotated(as, "a.jsonl") {
		logged[f.Fingerprint] = f
		if f.Severity != finding.Medium || f.Location == nil || f.Location.Path != "a.jsonl" || len(f.Evidence) != 1 {
			t.Errorf("%+v", f)
		}
	}
	for _, f := range checkCM501(changedSurface(0)) {
		l, ok := logged[f.Fingerprint]
		if !ok || l.Message != f.Message || l.Title != f.Title || l.Tool != f.Tool {
			t.Errorf("a run has\n%+v, a log\n%+v", f, l)
		}
		delete(logged, f.Fingerprint)
	}
	if len(logged) > 0 {
		t.Errorf("only the log has %+v", logged)
	}
}

// In a log one annotation is about many tools: its fingerprint of version 1 is that of
// the finding of each, and each listing is evidence.
func TestAnnotationOfManyToolsIsAFindingEach(t *testing.T) {
	fs := Annotated(listings(t, `{"name":"a"},{"name":"b"}`, `{"name":"a","description":"x"},{"name":"c"}`, `{"name":"a","description":"x"},{"name":"c"},{"name":"d"}`), "")
	first, second := "7aaa607012621156b9f7143b7b1a3f38", fs[len(fs)-1].PreviousFingerprints[0]
	want := []struct {
		message  string
		evidence int
		previous []string
	}{
		{"tool “b” disappeared", 2, []string{first, second}},
		{"tool “c” appeared", 2, []string{first, second}},
		{"tool “a” changed its declaration", 1, []string{"e61f8c26a23a7159f557da38b0bf940e"}},
		{"tool “d” appeared", 1, []string{second}},
	}
	if len(fs) != len(want) {
		t.Fatalf("%+v", fs)
	}
	for i, w := range want {
		if f := fs[i]; f.Message != w.message || len(f.Evidence) != w.evidence || !slices.Equal(f.PreviousFingerprints, w.previous) {
			t.Errorf("%+v, want %+v", f, w)
		}
	}
}

// A hostile server's changes without end are bounded, and no secret is named.
func TestChangesOfALogAreBounded(t *testing.T) {
	const key = "AKIAZ3MSJV4QWERTYUIO"
	lists := []string{`{"name":"a"}`, `{"name":"` + key + `"}`}
	for i := range 3 * detect.MaxChanges {
		lists = append(lists, fmt.Sprintf(`{"name":"t%d"}`, i))
	}
	fs := Annotated(listings(t, lists...), "")
	if len(fs) != detect.MaxChanges {
		t.Errorf("%d findings", len(fs))
	}
	if strings.Contains(fmt.Sprintf("%+v", fs), key) {
		t.Error("a tool's name that is a secret is told")
	}
	for _, f := range fs {
		if len(f.Evidence) > maxEvidence || len(f.PreviousFingerprints) > maxEvidence {
			t.Errorf("%d pieces of evidence, %d fingerprints", len(f.Evidence), len(f.PreviousFingerprints))
		}
	}
}
