package secrets

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// Rules changes with each file of the package.
func TestRulesHoldEachFile(t *testing.T) {
	t.Parallel()
	held, err := fs.Glob(source, "*")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && name != "doc.go" && !slices.Contains(held, name) {
			t.Errorf("%s is not in source: a change of it would leave what was learned before", name)
		}
	}
	if Rules() == "" {
		t.Error("the rules have no name")
	}
}
