package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/canaries"
)

// formats are what --format knows.
var formats = []string{"text", "line", "json", "sarif", "html", "markdown", "junit"}

func (e *env) print(res *analyze.Result, dir string, formats []string, redactor *canaries.Redactor) error {
	for _, format := range formats {
		var b bytes.Buffer
		var err error
		switch format {
		case "text":
			err = report.Text(&b, res, report.TextOptions{Color: isTerminal(e.out), Dir: dir})
		case "json":
			err = copyFile(e.out, dir+"/"+report.FileJSON)
		case "sarif":
			err = copyFile(e.out, dir+"/"+report.FileSARIF)
		case "html":
			err = copyFile(e.out, dir+"/"+report.FileHTML)
		case "markdown":
			err = copyFile(e.out, dir+"/"+report.FileSummary)
		case "junit":
			err = report.JUnit(&b, res)
		case "line":
			_, err = fmt.Fprintln(&b, report.Line(res))
		}
		if err == nil {
			_, err = io.WriteString(e.out, redactor.Redact(b.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// maxListed bounds the entries of a list that the terminal shows.
const maxListed = 50

// maxLines bounds the entries of a list that have a line each.
const maxLines = 10

// listed joins what a list holds.
func listed[T any](list []T, none string, show func(T) string) string {
	return joined(list, maxListed, ", ", none, show)
}

// lines is listed with a line for each entry.
func lines[T any](list []T, none string, show func(T) string) string {
	return joined(list, maxLines, "\n"+strings.Repeat(" ", 17), none, show)
}

func joined[T any](list []T, most int, between, none string, show func(T) string) string {
	if len(list) == 0 {
		return none
	}
	var out []string
	for _, v := range list[:min(len(list), most)] {
		out = append(out, show(v))
	}
	if len(list) > most {
		out = append(out, fmt.Sprintf("and %d more; --json has them", len(list)-most))
	}
	return strings.Join(out, between)
}

// counted are the names of a list, each once and with how often it is there.
func counted(list []string) []string {
	times := map[string]int{}
	for _, s := range list {
		times[s]++
	}
	var out []string
	for _, s := range slices.Sorted(maps.Keys(times)) {
		if n := times[s]; n > 1 {
			s += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, s)
	}
	return out
}

// plain is any text within a line, of a terminal or of a job's log.
func plain(s string) string { return report.Escape(s, 400) }
