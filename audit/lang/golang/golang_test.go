package golang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

const source = `package main

import (
	"os/exec"
	sq "database/sql"
	_ "embed"
	yaml "gopkg.in/yaml.v3"
	"github.com/mark3labs/mcp-go/mcp"
)

const greeting = "a" + "b"

type app struct {
	*Store
	runner *sq.DB
}

func (a *app) handle(words []string, x int) (string, error) {
	if err := check(x); err != nil {
		return "", err
	}
	for i, w := range words {
		a.runner.Query(w + greeting)
		_ = i
	}
	cmd := exec.Command("sh", append([]string{"-c"}, words...)...)
	switch v := any(x).(type) {
	case int:
		return mcp.Run[string, int](v), nil
	}
	out := map[string]any{"k": &app{runner: nil}}
	return string(out["k"].(string)[1:2]), cmd.Run()
}
`

func TestFacts(t *testing.T) {
	f := Language{}.Parse("main.go", []byte(source))
	if len(f.Unread) > 0 {
		t.Fatalf("unread: %+v", f.Unread)
	}
	facts := lang.CalculateFacts(f)
	var got []string
	for _, i := range facts.Imports {
		got = append(got, fmt.Sprintf("import %s as %s", i.Module, i.Names[0].As))
	}
	for _, d := range facts.Definitions {
		got = append(got, fmt.Sprintf("%s %s %d", d.Kind, d.Name, d.Start.Line()))
	}
	for _, c := range facts.Calls {
		got = append(got, fmt.Sprintf("call %d:%d %s %s", c.Call.Start.Line(), c.Call.Start.Column(), strings.Join(c.Names, " "), strings.Join(c.Own, " ")))
	}
	for _, want := range []string{
		"import os/exec as exec", "import database/sql as sq", "import embed as _", "import gopkg.in/yaml.v3 as yaml", "import github.com/mark3labs/mcp-go/mcp as mcp",
		"class app 13", "method app.handle 18",
		"call 19:12 check ", "call 23:3 database/sql.DB().Query ", "call 26:9 os/exec.Command ", "call 29:10 github.com/mark3labs/mcp-go/mcp.Run ",
		"call 32:41 os/exec.Command().Run ",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	constants := []string{}
	for _, c := range lang.CalculateConstants(f) {
		constants = append(constants, c.Text)
	}
	if !slices.Contains(constants, "ab") {
		t.Errorf("constants: %q", constants)
	}
}

func TestOwns(t *testing.T) {
	for name, want := range map[string]bool{"main.go": true, "a/b.go": true, "main_test.go": false, "go.mod": false, "x.got": false} {
		if got := (Language{}).Owns(name, nil); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestPackageName(t *testing.T) {
	for module, want := range map[string]string{
		"fmt": "fmt", "net/http": "http", "gopkg.in/yaml.v3": "yaml", "github.com/x/go-git/v5": "git", "github.com/mark3labs/mcp-go": "mcp", "github.com/a/mcp-go/server": "server", "": "",
	} {
		if got := packageName(module); got != want {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
}

// TestLibrary compares the calls of the standard library's sources with those of go/ast.
func TestLibrary(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", "net", "http", "*.go")) //nolint:staticcheck // the tests run beside the toolchain
	if err != nil || len(paths) == 0 {
		t.Skip("the library's sources are not there")
	}
	for _, p := range paths {
		if !(Language{}).Owns(p, nil) {
			continue
		}
		src, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]int{}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, p, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if _, ok := n.(*ast.ArrayType); ok {
				return false // its length is part of a type
			}
			if c, ok := n.(*ast.CallExpr); ok {
				want[fset.Position(c.Pos()).Offset]++
			}
			return true
		})
		got := map[int]int{}
		lang.Walk(Language{}.Parse(p, src), func(n lang.Node, _ *lang.Scope) bool {
			if c, ok := n.(lang.Call); ok {
				got[c.Start.Offset()]++
			}
			return true
		})
		missing := 0
		for at, n := range want {
			if got[at] < n {
				missing++
				if missing < 3 {
					t.Errorf("%s: %d calls at %d, want %d: %.40q", filepath.Base(p), got[at], at, n, src[at:])
				}
			}
		}
	}
}

// FuzzParse holds that any bytes have a tree whose places lie in the source.
func FuzzParse(f *testing.F) {
	f.Add(source)
	f.Add("package p\nfunc (")
	f.Add("//line x.go:900000\npackage p; var x = f(1")
	f.Fuzz(func(t *testing.T, src string) {
		file := Language{}.Parse("a.go", []byte(src))
		lang.Walk(file, func(n lang.Node, _ *lang.Scope) bool {
			if s := n.Place(); s.Start.Offset() < 0 || s.End.Offset() > len(src) || s.Start.Line() < 1 || s.Start.Column() < 1 {
				t.Fatalf("%T lies at %+v of %d bytes", n, s, len(src))
			}
			return true
		})
		lang.CalculateFacts(file)
	})
}
