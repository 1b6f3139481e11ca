package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
)

// folders are the top level's folders that hold Go code.
var folders = []string{"cmd", "sandbox", "synth", "analyze", "audit", "canaries", "testdata"}

var (
	quotedWord = regexp.MustCompile("`([^`\n]+)`")
	plainPath  = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`)
	linkTarget = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// inFolders reports whether a word is the path of a folder or of something in one.
func inFolders(word string) bool {
	top, _, _ := strings.Cut(word, "/")
	return plainPath.MatchString(word) && (slices.Contains(folders, top) || top == "docs")
}

// namedPaths lists the paths that a page of docs names, relative to the root: those in
// backticks, and the targets of its links.
func namedPaths(page string) []string {
	var out []string
	for _, m := range quotedWord.FindAllStringSubmatch(page, -1) {
		if inFolders(m[1]) {
			out = append(out, m[1])
		}
	}
	for _, m := range linkTarget.FindAllStringSubmatch(page, -1) {
		out = append(out, path.Join("docs", m[1]))
	}
	return out
}

// tableUnder lists the cells of the rows of the first table below a heading, without
// its head, and without backticks.
func tableUnder(page, heading string) [][]string {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(c), "`", "")
		}
		rows = append(rows, cells)
	}
	return rows[min(2, len(rows)):]
}

// pictureWords lists the words of a picture's texts. What is not well-formed, runs a
// script or loads something is an error.
func pictureWords(svg io.Reader) ([]string, error) {
	var words []string
	var within string
	for d := xml.NewDecoder(svg); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			within = e.Name.Local
			if slices.Contains([]string{"script", "image", "foreignObject", "use", "a"}, within) {
				return nil, fmt.Errorf("the picture has an element %s", within)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
					return nil, fmt.Errorf("the picture has an attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			if text := string(e); within == "style" && (strings.Contains(text, "url(") || strings.Contains(text, "@import")) {
				return nil, errors.New("the picture's style loads something")
			}
			if within == "text" || within == "tspan" {
				words = append(words, strings.Fields(string(e))...)
			}
		}
	}
}

func readDocs(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestArchitectureNamesWhatIsThere(t *testing.T) {
	page := readDocs(t, "architecture.md")
	words, err := pictureWords(strings.NewReader(readDocs(t, "architecture.svg")))
	if err != nil {
		t.Fatalf("docs/architecture.svg: %v", err)
	}
	drawn := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.Contains(w, "/") || !inFolders(w) })
	paths := namedPaths(page)
	if len(paths) < 50 || len(drawn) < 40 {
		t.Fatalf("only %d paths of the page and %d of the picture were found", len(paths), len(drawn))
	}
	for _, p := range slices.Concat(paths, drawn) {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(p))); err != nil {
			t.Errorf("docs/architecture names %s: %v", p, err)
		}
	}
	_, ofTests, ok := strings.Cut(page, "These packages serve tests only")
	ofTests, _, ended := strings.Cut(ofTests, "\n\n")
	if !ok || !ended {
		t.Fatal("docs/architecture.md lists no packages that serve tests only")
	}
	left := namedPaths(ofTests)
	for pkg := range layers {
		if slices.Contains(words, pkg) == slices.Contains(left, pkg) {
			t.Errorf("docs/architecture: show %s in the picture, or list it with those that serve tests only", pkg)
		}
	}
}

// drawnLayers says in which layer a picture shows each package: a text that begins with
// a layer's number stands before the packages of that layer.
func drawnLayers(words []string) map[string]int {
	drawn := map[string]int{}
	layer := -1
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			layer = n
		} else if _, ok := layers[w]; ok && layer >= 0 {
			drawn[w] = layer
		}
	}
	return drawn
}

func TestPictureShowsPackagesInTheirLayers(t *testing.T) {
	words, err := pictureWords(strings.NewReader(readDocs(t, "architecture.svg")))
	if err != nil {
		t.Fatal(err)
	}
	drawn := drawnLayers(words)
	if len(drawn) < 40 {
		t.Fatalf("only %d packages were found in a layer", len(drawn))
	}
	for pkg, layer := range drawn {
		if layer != layers[pkg] {
			t.Errorf("docs/architecture.svg shows %s in layer %d, and it is in layer %d", pkg, layer, layers[pkg])
		}
	}
}

func TestArchitectureWalksThroughTheCode(t *testing.T) {
	rows := tableUnder(readDocs(t, "architecture.md"), "From main to SARIF")
	if len(rows) < 20 {
		t.Fatalf("only %d steps were found", len(rows))
	}
	for _, r := range rows {
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(r[0])))
		if err != nil {
			t.Errorf("a step of docs/architecture.md: %v", err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + regexp.QuoteMeta(r[1]) + `\(`).Match(source) {
			t.Errorf("docs/architecture.md: %s declares no function %s", r[0], r[1])
		}
	}
}

func TestArchitectureListsTheExperiments(t *testing.T) {
	var listed, made []string
	for _, r := range tableUnder(readDocs(t, "architecture.md"), "The experiments") {
		listed = append(listed, strings.Join(r[:3], " "))
	}
	for _, e := range experiment.Table() {
		role, dir := string(e.Role), e.Dir
		if role == "" {
			role = "none"
		}
		if e.Rounds > 0 {
			dir += "-N"
		}
		made = append(made, e.Name+" "+role+" "+dir)
	}
	if !slices.Equal(listed, made) {
		t.Errorf("docs/architecture.md lists the experiments (name, role, directory)\n%s\nand experiment.Table has\n%s", strings.Join(listed, "\n"), strings.Join(made, "\n"))
	}
}

func TestContributorsFindTheArchitecture(t *testing.T) {
	for file, link := range map[string]string{"README.md": "(docs/architecture.md)", ".github/CONTRIBUTING.md": "(../docs/architecture.md)"} {
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), link) {
			t.Errorf("%s has no link %s", file, link)
		}
	}
}

func TestPathsOfAPageAreFound(t *testing.T) {
	page := "`cmd/x.go`, `synth` and `audit.json` in `coalmine-out/x`, `vary/client-0-N`; `cmd is run`, [gaps](gaps.md), [site](https://x.example)"
	if got, want := namedPaths(page), []string{"cmd/x.go", "synth", "docs/gaps.md"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	rows := tableUnder("# x\n\n## A\n\n| a | b |\n|---|---|\n| `c` | d |\n\n## B\n\n| e |\n|---|\n| f |\n", "A")
	if len(rows) != 1 || !slices.Equal(rows[0], []string{"c", "d"}) {
		t.Errorf("the table has %q", rows)
	}
}

func TestPicturesThatLoadOrRunAreRefused(t *testing.T) {
	words, err := pictureWords(strings.NewReader(`<svg><title>no</title><text>a b<tspan>c/d</tspan></text></svg>`))
	if err != nil || !slices.Equal(words, []string{"a", "b", "c/d"}) {
		t.Errorf("%q, %v", words, err)
	}
	for _, svg := range []string{
		`<svg><script/></svg>`, `<svg onload="x"/>`, `<svg><image href="x"/></svg>`, `<svg><text>`,
		`<svg><style>@import "x"</style></svg>`, `<svg><style>@font-face { src: url(x) }</style></svg>`,
	} {
		if _, err := pictureWords(strings.NewReader(svg)); err == nil {
			t.Errorf("%s passes", svg)
		}
	}
}

// codeOutside lists the Go files that are in none of the folders.
func codeOutside(root fs.FS) ([]string, error) {
	var out []string
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(folders, p) || p == ".git"):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(p, ".go"):
			out = append(out, p)
		}
		return nil
	})
	return out, err
}

func TestCodeIsInTheFoldersOnly(t *testing.T) {
	out, err := codeOutside(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out {
		t.Errorf("%s: Go code belongs below %s", p, strings.Join(folders, ", "))
	}
}

func TestCodeOutsideTheFoldersIsFound(t *testing.T) {
	out, err := codeOutside(fstest.MapFS{
		"go.mod": {}, "cmd/x/main.go": {}, "testdata/x.go": {}, "docs/page.md": {},
		"tools.go": {}, "docs/make.go": {}, ".ci/x/y.go": {}, "internal/cmd/z.go": {},
	})
	if want := []string{".ci/x/y.go", "docs/make.go", "internal/cmd/z.go", "tools.go"}; err != nil || !slices.Equal(out, want) {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
}
