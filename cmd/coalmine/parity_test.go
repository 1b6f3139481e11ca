package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var parityTest = regexp.MustCompile("^`([\\w/]+) (Test\\w+)(?:/[\\w/-]+)?`$")

// docs/parity.md calls nothing working that no test shows; make parity-report runs them.
func TestParityNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/parity.md")
	if err != nil {
		t.Fatal(err)
	}
	works := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 || strings.TrimSpace(cells[1]) != "works" {
			continue
		}
		works++
		m := parityTest.FindStringSubmatch(strings.TrimSpace(cells[2]))
		if m == nil {
			t.Errorf("%s: no test is named", cells[0])
			continue
		}
		files, err := filepath.Glob(filepath.Join("../..", m[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(name string) bool {
			source, err := os.ReadFile(name)
			return err == nil && strings.Contains(string(source), "\nfunc "+m[2]+"(")
		}) {
			t.Errorf("%s: %s has no %s", cells[0], m[1], m[2])
		}
	}
	if works < 50 {
		t.Errorf("only %d rows work", works)
	}
}
