package javascript

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// said is what testdata/typescript.cjs says of one file.
type said struct {
	Path   string   `json:"path"`
	Errors int      `json:"errors"`
	Facts  []string `json:"facts"`
}

// differs returns the first difference between what TypeScript's parser says of a file
// and what ours does, "" for none.
func differs(t *testing.T, theirs said, src []byte) string {
	t.Helper()
	file := Language{}.Parse(theirs.Path, src)
	if theirs.Errors > 0 {
		return ""
	}
	ours := factsOf(file, src)
	count := map[string]int{}
	for _, fact := range theirs.Facts {
		count[fact]++
	}
	for _, fact := range ours {
		count[fact]--
	}
	for _, fact := range theirs.Facts {
		if count[fact] > 0 {
			return "not in ours: " + clip(fact)
		}
	}
	for _, fact := range ours {
		if count[fact] < 0 {
			return "in ours alone: " + clip(fact)
		}
	}
	if len(file.Unread) > 0 {
		return "unread: " + file.Unread[0].Why
	}
	return ""
}

func clip(s string) string { return s[:min(len(s), 120)] }

// TestSample compares the files of testdata/sample with what TypeScript's parser said of
// them, which "make js-parity" writes again.
func TestSample(t *testing.T) {
	data, err := os.Open("testdata/sample.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	lines := bufio.NewScanner(data)
	lines.Buffer(nil, 1<<24)
	seen := 0
	for lines.Scan() {
		var theirs said
		if err := json.Unmarshal(lines.Bytes(), &theirs); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(theirs.Path)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if theirs.Errors > 0 {
			t.Errorf("%s: TypeScript's parser finds %d errors in it", theirs.Path, theirs.Errors)
		}
		if d := differs(t, theirs, src); d != "" {
			t.Errorf("%s: %s", theirs.Path, d)
		}
	}
	files, err := os.ReadDir("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != seen || seen == 0 {
		t.Errorf("%d files and what is said of %d: run make js-parity", len(files), seen)
	}
}

// TestParity compares each source below the directories of COALMINE_JS_PARITY, once for
// each content. COALMINE_TYPESCRIPT is the directory of npm's typescript, and SHARD takes a part.
func TestParity(t *testing.T) {
	dirs := strings.Fields(os.Getenv("COALMINE_JS_PARITY"))
	if len(dirs) == 0 {
		t.Skip("make js-parity runs it")
	}
	paths := shard(t, sources(t, dirs))
	cmd := exec.Command("node", "--max-old-space-size=4096", "testdata/typescript.cjs", os.Getenv("COALMINE_TYPESCRIPT"))
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	same, files, wrong := 0, 0, 0
	from := json.NewDecoder(out)
	for range paths {
		var theirs said
		if err := from.Decode(&theirs); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(theirs.Path)
		if err != nil {
			t.Fatal(err)
		}
		d := differs(t, theirs, src)
		if theirs.Errors > 0 {
			t.Logf("js wrong itself: %s", theirs.Path)
			wrong++
			continue
		}
		files++
		if d == "" {
			same++
		} else {
			t.Logf("js differs: %s: %s", theirs.Path, d)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("js files that TypeScript's parser finds errors in: %d", wrong)
	t.Logf("js: %d/%d", same, files)
}

// shard is every n-th path from the i-th on, where SHARD is i/n.
func shard(t *testing.T, paths []string) []string {
	t.Helper()
	text := os.Getenv("SHARD")
	if text == "" {
		return paths
	}
	var i, n int
	if _, err := fmt.Sscanf(text, "%d/%d", &i, &n); err != nil || i < 1 || i > n {
		t.Fatalf("SHARD=%s is not i/n", text)
	}
	var out []string
	for at := i - 1; at < len(paths); at += n {
		out = append(out, paths[at])
	}
	return out
}

// sources lists the files of the language below directories, one of each content.
func sources(t *testing.T, dirs []string) []string {
	t.Helper()
	var paths []string
	seen := map[[32]byte]bool{}
	for _, dir := range dirs {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(p) == "" || !(Language{}).Owns(p, nil) {
				return err
			}
			src, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(append(src, filepath.Ext(p)...))
			switch {
			case seen[sum]:
			case !utf8.Valid(src): // its columns are others as soon as node has read it
				t.Logf("js no UTF-8: %s", p)
			default:
				paths = append(paths, p)
			}
			seen[sum] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(paths)
	return paths
}
