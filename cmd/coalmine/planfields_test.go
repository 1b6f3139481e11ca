package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planPackage holds the type Plan and all that changes one.
const planPackage = module + "cmd/internal/probe/plan"

// sources checks the types of the module's packages from their sources. What lies outside the
// module, and outside the folder of the commands, is an empty package: no Plan comes from there.
type sources struct {
	files    *token.FileSet
	root     string
	packages map[string]*types.Package
	parsed   map[string][]*ast.File
	info     types.Info
}

func newSources(root string) *sources {
	return &sources{
		files: token.NewFileSet(), root: root, packages: map[string]*types.Package{}, parsed: map[string][]*ast.File{},
		info: types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}},
	}
}

// Import implements types.Importer.
func (s *sources) Import(name string) (*types.Package, error) {
	if p := s.packages[name]; p != nil {
		return p, nil
	}
	dir, ours := strings.CutPrefix(name, module)
	if !ours || !within(dir, "cmd") {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		s.packages[name] = p
		return p, nil
	}
	found, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, file := range found {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_other.go") {
			continue
		}
		f, err := parser.ParseFile(s.files, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return s.check(name, files)
}

func (s *sources) check(name string, files []*ast.File) (*types.Package, error) {
	if len(files) == 0 {
		return nil, errors.New("no sources of " + name)
	}
	c := types.Config{Importer: s, FakeImportC: true, Error: func(error) {}} // what the empty packages lack
	p, _ := c.Check(name, s.files, files, &s.info)
	s.packages[name], s.parsed[name] = p, files
	return p, nil
}

// planField is the field of a Plan, or of a part of one, that an expression leads through, "" for
// none. The fields of Options are not a plan's.
func (s *sources) planField(e ast.Expr) string {
	parts := []string{"Plan", "Server", "Sandbox", "Identity", "Drive", "Guide", "Variable"}
	name := ""
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			sel := s.info.Selections[x]
			if sel == nil {
				return name
			}
			if of := owner(sel.Recv()); of == "Options" {
				return ""
			} else if sel.Kind() == types.FieldVal && slices.Contains(parts, of) {
				name = of + "." + x.Sel.Name
			}
			e = x.X
		default:
			return name
		}
	}
}

// owner is the name of a type of the plan's package, "" for any other.
func owner(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != planPackage {
		return ""
	}
	return n.Obj().Name()
}

// writes lists where a package's sources assign to a plan's field, or take its address.
func (s *sources) writes(name string) []string {
	var out []string
	found := func(e ast.Expr) {
		if field := s.planField(e); field != "" {
			out = append(out, s.files.Position(e.Pos()).String()+": "+field)
		}
	}
	for _, f := range s.parsed[name] {
		ast.Inspect(f, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				for _, e := range x.Lhs {
					found(e)
				}
			case *ast.IncDecStmt:
				found(x.X)
			case *ast.RangeStmt:
				found(x.Key)
				found(x.Value)
			case *ast.UnaryExpr:
				if x.Op == token.AND {
					found(x.X)
				}
			}
			return true
		})
	}
	return out
}

// A plan is a value: only its own package makes another one of it, by methods that return a copy.
func TestOnlyThePlansPackageChangesOne(t *testing.T) {
	root := filepath.Join("..", "..")
	s := newSources(root)
	seen := 0
	err := filepath.WalkDir(filepath.Join(root, "cmd"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		name := module + filepath.ToSlash(rel)
		if _, err := s.Import(name); err != nil || name == planPackage {
			return nil // a folder of folders
		}
		seen += len(s.parsed[name])
		for _, at := range s.writes(name) {
			t.Errorf("%s is written: give plan.Plan a method that returns a copy with it", at)
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files were seen: %v", seen, err)
	}
}

func TestWritesToAPlanAreFound(t *testing.T) {
	const src = `package planted
import "github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
type holder struct { plan plan.Plan; opts plan.Options }
func f(h *holder, p plan.Plan, d *plan.Drive) {
	h.plan.Sandbox.Backend = "a"
	p.Seed++
	p.Env[0].Value = "b"
	h.plan.Budget.Calls, d.Quick = 1, true
	for p.Seed = range 3 { }
	_ = &p.Server
	h.opts.Budget.Calls = 1
	h.opts.Sandbox = "c"
	h.plan = p
	server := p.Server
	_ = plan.Plan{Seed: server.Dir[0]}
}`
	s := newSources(filepath.Join("..", ".."))
	f, err := parser.ParseFile(s.files, "planted.go", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.check("planted", []*ast.File{f}); err != nil {
		t.Fatal(err)
	}
	want := []string{"5:2: Plan.Sandbox", "6:2: Plan.Seed", "7:2: Plan.Env", "8:2: Plan.Budget", "8:23: Drive.Quick", "9:6: Plan.Seed", "10:7: Plan.Server"}
	var got []string
	for _, at := range s.writes("planted") {
		got = append(got, strings.TrimPrefix(at, "planted.go:"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
