package python

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answer is a line of testdata/facts.py.
type answer struct {
	Path    string   `json:"path"`
	Facts   []string `json:"facts"`
	Refused string   `json:"refused"`
}

// TestParity compares this parser with CPython's ast, over the files below the
// directories of COALMINE_PYTHON_TREES (separated by colons). COALMINE_PYTHON names the
// interpreter. make python-parity sets both.
func TestParity(t *testing.T) {
	trees := os.Getenv("COALMINE_PYTHON_TREES")
	if trees == "" {
		t.Log("make python-parity compares whole trees; TestSample holds a small one here")
		return
	}
	python := os.Getenv("COALMINE_PYTHON")
	var files []string
	for _, root := range filepath.SplitList(trees) {
		files = append(files, pythonFiles(t, root)...)
	}
	cmd := exec.Command(python, "-I", "testdata/facts.py")
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command(python, "-c", "import sys; print(sys.version_info >= (3, 12))").Output()
	if err != nil {
		t.Fatal(err)
	}
	exact := strings.TrimSpace(string(version)) == "True"
	same, all, refused := 0, 0, 0
	lines := bufio.NewReader(out)
	for d := json.NewDecoder(lines); d.More(); {
		var a answer
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		all++
		if why := differ(t, a, exact); why != "" {
			t.Errorf("%s: %s", a.Path, why)
			continue
		}
		if a.Refused != "" {
			refused++
		}
		same++
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if all != len(files) {
		t.Errorf("%d of %d files were compared", all, len(files))
	}
	fmt.Printf("refused: %d by both\npython: %d/%d\n", refused, same, all)
}

// differ says how the two sides differ over a file, "" where they do not.
func differ(t *testing.T, a answer, exact bool) string {
	t.Helper()
	src, err := os.ReadFile(a.Path)
	if err != nil {
		t.Fatal(err)
	}
	f := Language{}.Parse(a.Path, src)
	if a.Refused != "" {
		if len(f.Unread) == 0 {
			return "ast refuses it: " + a.Refused
		}
		return ""
	}
	if len(f.Unread) > 0 {
		u := f.Unread[0]
		return fmt.Sprintf("line %d: %s", u.Start.Line(), u.Why)
	}
	ours := factsOf(f, exact)
	for i := range max(len(ours), len(a.Facts)) {
		switch {
		case i >= len(ours):
			return "ast alone: " + a.Facts[i]
		case i >= len(a.Facts):
			return "here alone: " + ours[i]
		case ours[i] < a.Facts[i]:
			return fmt.Sprintf("here alone: %s (ast: %s)", ours[i], a.Facts[i])
		case ours[i] > a.Facts[i]:
			return fmt.Sprintf("ast alone: %s (here: %s)", a.Facts[i], ours[i])
		}
	}
	return ""
}

// pythonFiles lists the sources below a directory.
func pythonFiles(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(p) == ".py" {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}
