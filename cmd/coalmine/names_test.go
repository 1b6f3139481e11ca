package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// ruleName is the name of a rule of runs and logs, or the beginning of several.
var ruleName = regexp.MustCompile(`\b(?:CM|CA)[0-9]{1,3}\b`)

// sentence is text that has words of its own beside a rule's name: documentation.
var sentence = regexp.MustCompile(`[a-z]+[ ,;:]+[a-z]+`)

// namesARule reports whether a literal is a rule's name, or a list of them, and not a
// sentence for people.
func namesARule(literal string) bool {
	return ruleName.MatchString(literal) && !sentence.MatchString(ruleName.ReplaceAllString(literal, ""))
}

// ruleNames lists the places of a source's literals that name rules. A rule's own file may name it.
func ruleNames(name string, src any) ([]string, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	own := ""
	if dir, file := path.Split(filepath.ToSlash(name)); strings.HasSuffix(dir, "analyze/rules/") {
		own = strings.ToUpper(strings.TrimSuffix(file, ".go"))
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && namesARule(text) && text != own {
			out = append(out, files.Position(lit.Pos()).String()+": "+lit.Value)
		}
		return true
	})
	return out, nil
}

// What is particular to a rule stands in the rule: elsewhere it is looked up.
func TestRulesAreNamedWhereTheyAre(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != root {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		seen++
		found, err := ruleNames(p, nil)
		for _, at := range found {
			t.Errorf("%s: give rules.Rule a member that says it, and look the rule up", at)
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files were seen: %v", seen, err)
	}
}

func TestRuleNamesAreFound(t *testing.T) {
	for literal, want := range map[string]bool{
		`"CM101"`: true, "`CM101,CM102`": true, `"CM101 CM102"`: true, `"rule=CM306"`: true, `"CA001"`: true,
		`"CM1"`: true, "`CM10`": true, `"a rule's id, such as CM405, or a name"`: false, `"XCM101X"`: false,
	} {
		found, err := ruleNames("x.go", "package x\n\n// CM101\nvar x = "+literal+"\n")
		if err != nil || (len(found) > 0) != want {
			t.Errorf("%s: %q, %v", literal, found, err)
		}
	}
}

func TestARulesOwnFileNamesIt(t *testing.T) {
	for file, want := range map[string]bool{"../analyze/rules/cm101.go": false, "../analyze/rules/cm102.go": true, "../analyze/rules/advice.go": true, "../analyze/cm101.go": true} {
		found, err := ruleNames(file, "package x\n\nvar x = `CM101`\n")
		if err != nil || (len(found) > 0) != want {
			t.Errorf("%s: %q, %v", file, found, err)
		}
	}
}
