package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// minWords is how many words a string of the program has if it is a text for a reader.
const minWords = 3

// wordings are the expressions of testdata/wording.txt.
func wordings(t *testing.T) []substitution {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "wording.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []substitution
	for line := range strings.Lines(string(data)) {
		if old, use, ok := strings.Cut(strings.TrimSpace(line), " => "); ok && !strings.HasPrefix(line, "#") {
			out = append(out, substitution{old, use, regexp.MustCompile(`(?i)\b` + old + `\b`)})
		}
	}
	if len(out) < 10 {
		t.Fatalf("%d expressions", len(out))
	}
	return out
}

var thereIs = regexp.MustCompile(`(?i)\bthere (is|are|was|were)\b`)

// worded are the texts of a page or the program that have an old wording.
func worded(text string, rules []substitution) []string {
	var out []string
	text = thereIs.ReplaceAllString(strings.Join(strings.Fields(text), " "), "there x")
	for _, r := range rules {
		if m := r.words.FindStringIndex(text); m != nil {
			out = append(out, "“"+text[max(0, m[0]-30):min(len(text), m[1]+30)]+"”: write “"+r.use+"”")
		}
	}
	return out
}

// sourceTexts calls f for each text that a person reads of a Go file: its strings of at
// least minWords words, and the comments that document the package and exported names.
func sourceTexts(file *ast.File, f func(token.Pos, string)) {
	doc := func(c *ast.CommentGroup) {
		if c != nil {
			f(c.Pos(), c.Text())
		}
	}
	doc(file.Doc)
	exported := func(names []*ast.Ident) bool {
		for _, n := range names {
			if n.IsExported() {
				return true
			}
		}
		return false
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			if n.Name.IsExported() {
				doc(n.Doc)
			}
		case *ast.GenDecl:
			doc(n.Doc)
		case *ast.TypeSpec:
			if n.Name.IsExported() {
				doc(n.Doc)
			}
		case *ast.ValueSpec:
			if exported(n.Names) {
				doc(n.Doc)
			}
		case *ast.Field:
			if exported(n.Names) {
				doc(n.Doc)
			}
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(n.Value); err == nil && len(strings.Fields(s)) >= minWords {
				f(n.Pos(), s)
			}
		}
		return true
	})
}

// notProse are files whose strings are programs of another language or tables of words.
var notProse = regexp.MustCompile(`(^|/)(sdist|backend|lexicon)\.go$`)

// keptText is a text that stays as it is: earlier fingerprints hash it.
const keptText = "was declared otherwise than before"

// The messages, the help, the rules and the comments of what is exported keep to the standard
// wording.
func TestWording(t *testing.T) {
	t.Parallel()
	rules := wordings(t)
	for name, page := range pages(t) {
		for _, c := range worded(inline.ReplaceAllString(block.ReplaceAllString(page, ""), "x"), rules) {
			t.Errorf("%s: %s", name, c)
		}
	}
	texts := 0
	err := filepath.WalkDir(moduleRoot, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "dist" || strings.HasPrefix(d.Name(), ".git")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || notProse.MatchString(filepath.ToSlash(p)):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sourceTexts(file, func(at token.Pos, text string) {
			texts++
			if text == keptText {
				return
			}
			for _, c := range worded(text, rules) {
				t.Errorf("%s: %s", files.Position(at), c)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 5000 {
		t.Errorf("%d texts were read", texts)
	}
}

func TestWorded(t *testing.T) {
	t.Parallel()
	rules := wordings(t)
	for text, want := range map[string]int{
		"%q is none of a, b": 1, "there is none in it": 0, "eBPF is not to\nbe had": 2, "all but for the last": 1,
		"a file of which nothing is read": 1, "whose file is read": 0, "It differs otherwise than before": 1,
	} {
		if got := worded(text, rules); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	src := "// Package x.\npackage x\n// A is one.\nconst A = \"three whole words\"\n// b is hidden.\nfunc b() {}\n// T is one.\ntype T struct {\n// F is one.\nF int\n}\n"
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	sourceTexts(file, func(_ token.Pos, s string) { got = append(got, strings.TrimSpace(s)) })
	if want := "Package x.|A is one.|three whole words|T is one.|F is one."; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}
