package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
)

// A mark carries a gap, and one of a log without codes is of the code "other".
func TestMarksCarryGaps(t *testing.T) {
	g := Gap{Code: GapHandshakeFailed, Tool: "a", Phase: "handshake", Text: "x"}
	line, err := parseLine(appendMark(nil, Doubt(g)))
	if err != nil || line.Mark.Gap() != g {
		t.Errorf("%+v, %v", line.Mark, err)
	}
	line, err = parseLine([]byte(`{"type":"mark","t":1,"kind":"inconclusive","text":"x"}`))
	if err != nil || line.Mark.Gap() != (Gap{Code: GapOther, Text: "x"}) {
		t.Errorf("%+v, %v", line.Mark, err)
	}
}

// Known knows every constant, and nothing else.
func TestMarksCarryTheCauseOfGaps(t *testing.T) {
	t.Parallel()
	ended := Gap{Code: GapCallsIncomplete, Text: "x", Cause: CauseServerEnded}
	m := Doubt(ended)
	if got := m.Gap(); got != ended {
		t.Errorf("%+v", got)
	}
	for text, want := range map[string]Cause{ // as earlier versions wrote it
		"not everything was called: the server ended":                                            CauseServerEnded,
		"not everything was called: the server ended (2 calls of the first round were not made)": CauseServerEnded,
		"not everything was called: the time is over":                                            "",
		"the server ended": "",
	} {
		m := Mark{Kind: MarkInconclusive, Code: GapCallsIncomplete, Text: text}
		if got := m.Gap().Cause; got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestKindsAreKnown(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "mark.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "MarkKind" {
			seen++
			kind, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil || !MarkKind(kind).Known() {
				t.Errorf("%s is not known", kind)
			}
		}
		return true
	})
	if seen < 11 || MarkKind("news").Known() || MarkKind("").Known() {
		t.Errorf("%d constants were seen", seen)
	}
}
