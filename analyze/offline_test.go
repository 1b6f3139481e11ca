package analyze_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var update = flag.Bool("update", false, "write the golden files anew")

// stored unpacks the log of a run that was made on another day.
func stored(t *testing.T, name string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{session.FramesFile, session.TraceFile} {
		f, err := os.Open(filepath.Join("testdata", "runs", name, file+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// reports are all that is made of a log.
func reports(t *testing.T, dir *os.Root) map[string]string {
	t.Helper()
	res := analyzetest.Judge(t, dir, analyze.Options{Version: "1.2.3", Least: true})
	out := map[string]string{"policy": string(res.Least.Marshal()), "line": report.Line(res)}
	for form, write := range map[string]func(io.Writer) error{
		"json":     func(w io.Writer) error { return report.JSON(w, res) },
		"sarif":    func(w io.Writer) error { return report.SARIF(w, res, report.SARIFOptions{}) },
		"html":     func(w io.Writer) error { return report.HTML(w, res, report.HTMLOptions{}) },
		"markdown": func(w io.Writer) error { return report.Markdown(w, res) },
		"junit":    func(w io.Writer) error { return report.JUnit(w, res) },
		"text":     func(w io.Writer) error { return report.Text(w, res, report.TextOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		out[form] = b.String()
	}
	return out
}

// A log of another day, judged in another place and time zone, gives the same
// reports to the byte, and report.json is the one that was made then.
func TestAStoredLogIsJudgedTheSame(t *testing.T) {
	dir := stored(t, "leaky")
	first := reports(t, dir)
	zone := time.Local
	time.Local = time.FixedZone("elsewhere", 9*60*60)
	t.Cleanup(func() { time.Local = zone })
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("HOME", "/nowhere")
	t.Setenv("LANG", "tr_TR.UTF-8")
	t.Chdir(t.TempDir())
	for range 3 {
		for form, text := range reports(t, dir) {
			if text != first[form] {
				t.Errorf("%s is another now", form)
			}
		}
	}
}

func TestAStoredLogGivesItsReport(t *testing.T) {
	got := reports(t, stored(t, "leaky"))["json"]
	golden := filepath.Join("testdata", "runs", "leaky", "report.json")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report of the stored log differs from %s (go test ./analyze -run Stored -update writes it anew)", golden)
	}
}

// worldly are what a judgement must not ask: the day, the machine, chance.
var worldly = map[string][]string{
	"time": {"Now", "Since", "Until", "Local"}, "os": {"Getenv", "LookupEnv", "Hostname", "Getwd", "UserHomeDir", "Getuid"}, "runtime": {"GOOS", "GOARCH", "NumCPU"},
	"path/filepath": {"*"}, "math/rand": {"*"}, "math/rand/v2": {"*"}, "crypto/rand": {"*"}, "net/http": {"Get", "DefaultClient"}, "os/exec": {"*"},
}

func TestJudgingAsksOnlyTheLog(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "analyzetest") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		files++
		src, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			return err
		}
		for _, use := range uses(src) {
			t.Errorf("%s asks %s", p, use)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 30 {
		t.Errorf("only %d files were read", files)
	}
}

// uses lists what a file asks of the world.
func uses(src *ast.File) []string {
	var out []string
	names := map[string]string{}
	for _, imp := range src.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		if members, ok := worldly[path]; ok {
			if members[0] == "*" {
				out = append(out, path)
			}
			names[path[strings.LastIndex(path, "/")+1:]] = path
		}
	}
	ast.Inspect(src, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok {
			for _, member := range worldly[names[x.Name]] {
				if sel.Sel.Name == member {
					out = append(out, x.Name+"."+member)
				}
			}
		}
		return true
	})
	return out
}
