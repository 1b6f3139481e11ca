//go:build linux

package action

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// annotation is a line that the action prints for a finding.
var annotation = regexp.MustCompile(`^::(error|warning|notice) file=\.mcp\.json,line=\d+(,col=\d+)?,title=[^:,]+::`)

// quiet checks that the runner obeys nothing between its stop and its token.
func quiet(t *testing.T, log string) {
	t.Helper()
	_, after, ok := strings.Cut(log, "::stop-commands::")
	token, after, _ := strings.Cut(after, "\n")
	inner, rest, ended := strings.Cut(after, "::"+token+"::")
	// After them stand annotations alone.
	for line := range strings.Lines(rest) {
		if strings.Contains(line, "::") && !annotation.MatchString(line) {
			t.Errorf("a line of the log is %q", line)
		}
	}
	if !ok || !ended || len(token) < 32 || strings.Contains(inner, token) {
		t.Errorf("commands are not stopped while a server's words are printed:\n%s", log)
	}
}

// standIn is a coalmine that runs nothing and writes each format to its file.
const standIn = `#!/bin/sh
for a in "$@"; do
  case $a in
    --version) echo "coalmine 1.2.3"; exit 0 ;;
  esac
done
echo "the text"
for a in "$@"; do
  case $a in
    --format=text) ;;
    --format=*)
      a=${a#--format=}
      a=${a#\"}
      file=${a#*=}
      echo "the ${a%%=*}" >"${file%\"}"
      ;;
  esac
done
`

// Each format that the input's description names is printed, and no other.
func TestFormats(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	sandboxtest.WriteProgram(t, filepath.Join(bin, "coalmine"), []byte(standIn))
	said := load(t).Inputs["format"].Description
	_, list, _ := strings.Cut(said, ", of ")
	list, _, _ = strings.Cut(list, ", with commas")
	formats := strings.Split(strings.ReplaceAll(list, " and ", ", "), ", ")
	if len(formats) < 10 || !slices.Contains(formats, "junit") {
		t.Errorf("the input offers %q", said)
	}
	for _, asked := range [][]string{{"text"}, {"junit"}, {"html", "text"}, {"json", "sarif"}, formats, {"pdf"}, {"html", "pdf"}, {"HTML"}, {"json=file"}, {"json", "", "html"}} {
		t.Run(strings.Join(asked, ","), func(t *testing.T) {
			j := newJob(t, bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			status, _ := j.use(map[string]string{"format": strings.Join(asked, ",")})
			if slices.ContainsFunc(asked, func(f string) bool { return !slices.Contains(formats, f) }) {
				if status != 2 || !strings.Contains(j.log, "error: the format is not one of "+strings.Join(formats, ", ")+"\n") {
					t.Errorf("status %d\n%s", status, j.log)
				}
				return
			}
			if status != 0 {
				t.Fatalf("status %d\n%s", status, j.log)
			}
			for _, f := range formats {
				// Annotations are printed in any case, once.
				if got := strings.Count(j.log, "the "+f+"\n"); got == 1 != (slices.Contains(asked, f) || f == "github") {
					t.Errorf("%s is printed %d times\n%s", f, got, j.log)
				}
			}
			if !slices.Contains(asked, "github") {
				quiet(t, strings.ReplaceAll(j.log, "the github\n", ""))
			}
		})
	}
}
