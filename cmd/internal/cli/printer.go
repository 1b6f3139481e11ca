package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// formats are what --format knows.
var formats = []string{"text", "line", "json", "sarif", "html", "markdown", "junit", "github", "gitlab", "gitlab-sast"}

// formatUsage is the help of --format.
var formatUsage = "print these formats: " + strings.Join(formats, ", ") + "; FORMAT=`FILE` writes one to a file (coalmine always writes the run's own files)"

// printer writes the reports of one command's servers, each format to the standard output or
// to a file. Of several servers JSON is one array, SARIF one log with a run each and JUnit one
// document. Annotations for GitHub and the two reports for GitLab are made of all SARIF in the
// end; the other formats follow each other.
type printer struct {
	env     *env
	several bool
	to      []*output
}

// output is one format and what was made of it so far.
type output struct {
	format string
	file   string // "" for the standard output
	text   bytes.Buffer
	// parts are the documents of several servers that are one in the end. Those of JUnit are
	// made of results, without what a redactor knows.
	parts     []json.RawMessage
	scan      report.Scan // when they were made
	results   []*analyze.Result
	redactors []*canaries.Redactor
}

// newPrinter reads what --format asks for, each as FORMAT or FORMAT=FILE.
func (e *env) newPrinter(asked []string, several bool) (*printer, error) {
	p := &printer{env: e, several: several}
	for _, v := range asked {
		format, file, named := strings.Cut(v, "=")
		if !slices.Contains(formats, format) {
			return nil, usage("use one of: "+strings.Join(formats, ", "), "unknown --format %s", format)
		}
		if named && file == "" {
			return nil, usage("--format "+format+"=FILE", "--format %s= names no file", format)
		}
		p.to = append(p.to, &output{format: format, file: file})
	}
	return p, nil
}

// shows reports whether a format goes to the standard output.
func (p *printer) shows(format string) bool {
	return slices.ContainsFunc(p.to, func(o *output) bool { return o.format == format && o.file == "" })
}

// add takes the result of one server, whose files are in dir.
func (p *printer) add(res *analyze.Result, dir string, redactor *canaries.Redactor) error {
	for _, o := range p.to {
		if err := o.add(res, dir, redactor, p); err != nil {
			return err
		}
		if o.file != "" || o.text.Len() == 0 {
			continue
		}
		if _, err := o.text.WriteTo(p.env.out); err != nil {
			return err
		}
	}
	return nil
}

// files are the formats that stand in the directory of a run.
var files = map[string]string{"json": report.FileJSON, "sarif": report.FileSARIF, "html": report.FileHTML, "markdown": report.FileSummary, "github": report.FileSARIF, "gitlab": report.FileSARIF, "gitlab-sast": report.FileSARIF}

func (o *output) add(res *analyze.Result, dir string, redactor *canaries.Redactor, p *printer) error {
	if name := files[o.format]; name != "" {
		data, err := readBounded(filepath.Join(dir, name), maxReport)
		switch {
		case err != nil:
			return err
		case o.format == "github", o.format == "gitlab", o.format == "gitlab-sast", p.several && (o.format == "json" || o.format == "sarif"):
			o.parts = append(o.parts, data)
			o.scan.Add(res.Tool.Version, res.Run.Started, res.Run.Finished)
		default:
			o.text.Write(data)
		}
		return nil
	}
	var b bytes.Buffer
	var err error
	switch o.format {
	case "text":
		err = report.Text(&b, res, report.TextOptions{Color: o.file == "" && isTerminal(p.env.out), Dir: dir})
	case "line":
		_, err = fmt.Fprintln(&b, report.Line(res))
	case "junit":
		o.results, o.redactors = append(o.results, res), append(o.redactors, redactor)
		return nil
	}
	if err == nil {
		_, err = io.WriteString(&o.text, redactor.Redact(b.String()))
	}
	return err
}

// finish writes what is one document of several servers, and the files.
func (p *printer) finish() error {
	var errs []error
	for _, o := range p.to {
		if err := o.join(p.several); err != nil {
			errs = append(errs, err)
			continue
		}
		if o.file == "" {
			_, err := o.text.WriteTo(p.env.out)
			errs = append(errs, err)
			continue
		}
		if err := replaceFile(o.file, o.text.String(), 0o644); err != nil {
			errs = append(errs, &sandbox.UsageError{Err: err, Hint: "name a file in a directory that can be written"})
		}
	}
	return errors.Join(errs...)
}

// join makes one document of what was kept.
func (o *output) join(several bool) error {
	var whole any
	switch {
	case len(o.results) > 0:
		var b bytes.Buffer
		err := report.JUnit(&b, o.results...)
		text := b.String()
		for _, r := range o.redactors {
			text = r.Redact(text)
		}
		o.text.WriteString(text)
		return err
	case o.format == "github":
		return report.Annotations(&o.text, o.parts...)
	case o.format == "gitlab":
		return report.CodeQuality(&o.text, o.parts...)
	case o.format == "gitlab-sast":
		if o.scan.Started.IsZero() {
			o.scan.Add(version(), time.Now(), time.Now()) // nothing had to be probed
		}
		return report.GitLabSAST(&o.text, o.scan, o.parts...)
	case !several:
		return nil
	case o.format == "json":
		whole = append([]json.RawMessage{}, o.parts...)
	case o.format == "sarif":
		log := struct {
			Schema  string            `json:"$schema"`
			Version string            `json:"version"`
			Runs    []json.RawMessage `json:"runs"`
		}{Schema: report.SARIFSchema, Version: "2.1.0", Runs: []json.RawMessage{}}
		for _, part := range o.parts {
			var one struct {
				Runs []json.RawMessage `json:"runs"`
			}
			if err := json.Unmarshal(part, &one); err != nil {
				return fmt.Errorf("join the SARIF of several servers: %w", err)
			}
			log.Runs = append(log.Runs, one.Runs...)
		}
		whole = log
	default:
		return nil
	}
	return report.Encode(&o.text, whole)
}
