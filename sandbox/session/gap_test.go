package session

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// gapsFile is the page that is made of the table.
const gapsFile = "../../docs/gaps.md"

func gapsPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Reasons for doubt\n\n" +
		"A run without findings is clean only where everything was looked at. What was not is a gap, and the verdict is then *inconclusive*.\n" +
		"In `report.json` the member `gaps` has them all, each with a code that does not change, the tool and the phase where they are known, a text and a remedy.\n" +
		"A policy can accept most of them ([accept_gaps](policy.md)).\n" +
		"This page is made from `sandbox/session/gapkinds.go`: `go test ./sandbox/session -run TestGapsPage -update` writes it anew.\n\n" +
		"| code | what was not seen | remedy |\n|---|---|---|\n")
	for _, k := range GapKinds() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Code, k.Meaning, k.Remedy)
	}
	return b.Bytes()
}

func TestGapsPage(t *testing.T) {
	want := gapsPage()
	if *update {
		if err := os.WriteFile(gapsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(gapsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the table says (-update writes it)", gapsFile)
	}
}

// Every constant of type Code stands in the table, once and in full.
func TestEveryCodeIsExplained(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "gap.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[Code]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes[Code(s)] = 0
		return true
	})
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	sentence := regexp.MustCompile(`^(?:[-A-Z]|coalmine ).*\.$`)
	for _, k := range GapKinds() {
		if _, ok := codes[k.Code]; !ok {
			t.Errorf("%s is no constant", k.Code)
		}
		codes[k.Code]++
		if !kebab.MatchString(string(k.Code)) || !sentence.MatchString(k.Meaning) || !sentence.MatchString(k.Remedy) {
			t.Errorf("%s: %q, %q", k.Code, k.Meaning, k.Remedy)
		}
	}
	for c, n := range codes {
		if n != 1 {
			t.Errorf("%s stands %d times in the table", c, n)
		}
	}
}

func TestGapsAreFilled(t *testing.T) {
	for _, c := range []struct{ given, want Gap }{
		{Gap{Code: GapCutOff, Tool: "a", Text: "x"}, Gap{Code: GapCutOff, Tool: "a", Text: "x", Remedy: GapCutOff.Kind().Remedy}},
		{Gap{Code: GapCutOff, Text: "x", Remedy: "y"}, Gap{Code: GapCutOff, Text: "x", Remedy: "y"}},
		{Gap{Code: "from-a-later-version", Text: "x"}, Gap{Code: GapOther, Text: "x", Remedy: GapOther.Kind().Remedy}},
		{Gap{Text: "x"}, Gap{Code: GapOther, Text: "x", Remedy: GapOther.Kind().Remedy}},
	} {
		if got := c.given.Filled(); got != c.want {
			t.Errorf("%+v became %+v", c.given, got)
		}
	}
}
