package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/together"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func (e *env) together() *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use: "together [flags] DIR…", Short: "Judge the servers of one configuration as one",
		Long: "together reads the directories of probes, and says what an agent with all these servers could be led to: text\n" +
			"that others write comes in by one, secrets are read by another, and a third one sends. It also finds names and\n" +
			"descriptions that stand in the way of another server's tools. It changes no verdict, and exits 0.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage("coalmine together coalmine-out/A coalmine-out/B", "together needs two DIRs at least")
			}
			if format != "text" && format != "json" {
				return usage("use one of: text, json", "unknown --format %s", format)
			}
			s, err := e.judgeTogether(args)
			if err != nil {
				return err
			}
			if format == "json" {
				return report.Encode(e.out, s)
			}
			e.printTogether(s)
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "print text or json")
	return cmd
}

// judgeTogether judges the servers of probes' directories as one, by their reports, from
// which secrets are taken out. A session that cannot be read is said, and shadows nothing.
func (e *env) judgeTogether(dirs []string) (*together.Set, error) {
	var servers []together.Server
	var logs []*detect.Log
	var names []string
	for _, dir := range dirs {
		server := together.Server{Name: filepath.Base(filepath.Clean(dir)), Result: &analyze.Result{}}
		if err := readReport(dir, server.Result); err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: judgeHint}
		}
		servers = append(servers, server)
		_, l, err := e.readLog(&logFlags{client: "auto"}, probed(dir)[0])
		if err != nil {
			fmt.Fprintln(e.err, "not compared with other servers: "+report.Escape(err.Error(), 400))
			continue
		}
		logs, names = append(logs, l), append(names, server.Name)
	}
	s := together.Judge(servers)
	severities := []finding.Severity{finding.Low, finding.Medium, finding.High}
	for i, list := range detect.Shadowing(logs) {
		for _, a := range list {
			s.Shadows = append(s.Shadows, together.Shadow{Server: names[i], Text: a.Explanation, Severity: severities[min(max(a.Severity, 1), 3)-1]})
		}
	}
	return s, nil
}

// readReport reads the report of a probe's directory.
func readReport(dir string, res *analyze.Result) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	data, err := session.ReadFile(root, report.FileJSON, maxReport)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, res); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, report.FileJSON), err)
	}
	return nil
}

// fileTogether is the file below --out that holds what the servers make possible together.
const fileTogether = "together.json"

// sayTogether judges the servers of one configuration as one, after each by itself.
func (e *env) sayTogether(f *probeFlags) error {
	if len(f.done) < 2 {
		return nil
	}
	s, err := e.judgeTogether(f.done)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(f.Out)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := (session.Output{Root: root}).WriteFile(fileTogether, func(w io.Writer) error { return report.Encode(w, s) }); err != nil {
		return err
	}
	if f.printer.shows("text") {
		e.printTogether(s)
	}
	return nil
}

// maxParts bounds the tools of a role that are printed.
const maxParts = 5

func (e *env) printTogether(s *together.Set) {
	if !s.Toxic && len(s.Shadows) == 0 {
		fmt.Fprintln(e.out, "together: these servers make nothing possible that one alone does not")
		return
	}
	if s.Toxic {
		fmt.Fprintln(e.out, "together: an agent with all these servers can be led to send away what is secret")
		n := map[together.Role]int{}
		labels := map[together.Role]string{together.Brings: "text comes in", together.Reads: "secrets are read", together.Sends: "text goes out"}
		for _, p := range s.Parts {
			if n[p.Role]++; n[p.Role] > maxParts {
				continue
			}
			how := "declares"
			if p.Seen {
				how = "seen"
			}
			fmt.Fprintf(e.out, "  %-16s by %s of %s (%s: %s)\n", labels[p.Role], report.Clean(p.Tool, 100), report.Clean(p.Server, 100), how, report.Escape(p.Why, 200))
		}
	}
	for _, sh := range s.Shadows {
		fmt.Fprintf(e.out, "together, %s: %s\n", sh.Severity, report.Escape(sh.Text, 400))
	}
}
