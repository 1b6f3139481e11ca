package custom

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/ledger.md and the schema anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs: go test ./analyze/custom -run TestLedgerPage -update writes it anew", name)
	}
}

func TestLedgerPage(t *testing.T) {
	golden(t, "../../docs/ledger.md", []byte(Page()))
	schema, err := LedgerSchema()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/ledger.schema.json", schema)
}

func TestTheExampleOfThePageHolds(t *testing.T) {
	if err := compiled(t, pageExample).Failing(); err != nil {
		t.Error(err)
	}
}

// Within v1 members are only added: those of the first schema stay as they were.
func TestTheLedgerOnlyGrows(t *testing.T) {
	first, err := os.ReadFile("testdata/v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	now, err := LedgerSchema()
	if err != nil {
		t.Fatal(err)
	}
	var was, is map[string]any
	if err := json.Unmarshal(first, &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(now, &is); err != nil {
		t.Fatal(err)
	}
	stays(t, "", was, is)
}

func stays(t *testing.T, at string, was, is any) {
	t.Helper()
	switch w := was.(type) {
	case map[string]any:
		m, _ := is.(map[string]any)
		for k, v := range w {
			if k != "description" {
				stays(t, at+"/"+k, v, m[k])
			}
		}
	case []any:
		l, _ := is.([]any)
		for _, v := range w {
			if !slices.Contains(l, v) {
				t.Errorf("%s: %v is gone", at, v)
			}
		}
		if strings.HasSuffix(at, "/required") && len(l) != len(w) {
			t.Errorf("%s: %v, was %v", at, l, w)
		}
	default:
		if was != is {
			t.Errorf("%s is %v, was %v", at, is, was)
		}
	}
}

// constants are the values of a source's typed constants, by their type.
func constants(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind, ok := v.Type.(*ast.Ident)
		for _, value := range v.Values {
			if lit, is := value.(*ast.BasicLit); ok && is && lit.Kind == token.STRING {
				word, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				words[kind.Name] = append(words[kind.Name], word)
			}
		}
		return true
	})
	return words
}

// The schema's words are those that the packages have which make them.
func TestTheWordsAreThoseOfTheCode(t *testing.T) {
	findings, calls := constants(t, "../finding/finding.go"), constants(t, "../../sandbox/session/outcome.go")
	for enum, want := range map[string][]string{
		"effect": findings["EffectKind"], "phase": findings["Phase"], "rung": findings["Rung"], "class": findings["Class"],
		"severity": findings["Severity"], "confidence": findings["Confidence"], "outcome": calls["Outcome"],
	} {
		got, want := slices.Sorted(slices.Values(enums[enum])), slices.Sorted(slices.Values(want))
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, the code has %v", enum, got, want)
		}
	}
}
