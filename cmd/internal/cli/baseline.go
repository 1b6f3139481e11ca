package cli

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func (e *env) baseline() *cobra.Command {
	out := ""
	cmd := &cobra.Command{
		Use: "baseline [--out FILE] REPORT…", Short: "Record known findings, so that only new ones fail",
		Long: "baseline reads report.json files, or directories of runs such as coalmine-out, and records their findings.\n" +
			"coalmine probe --baseline FILE then fails only on other findings.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("coalmine baseline --out baseline.json coalmine-out", "baseline needs a REPORT")
			}
			reports, err := readReports(args)
			if err != nil {
				return err
			}
			data, err := analyze.WriteBaseline(reports)
			if err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe"}
			}
			if out == "" {
				_, err = e.out.Write(data)
				return err
			}
			if err := writeOutput(out, string(data), 0o644); err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name a file that can be written"}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this `FILE` instead of standard output")
	return cmd
}

// maxReport bounds a report.json, in bytes.
const maxReport = 256 << 20

// readReports reads report.json files, of directories those of the runs in them.
func readReports(args []string) ([][]byte, error) {
	var out [][]byte
	for _, a := range args {
		info, err := os.Stat(a)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe, or a directory of runs"}
		}
		if info.IsDir() {
			found, err := reportsBelow(a)
			if err != nil {
				return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe, or a directory of runs without links"}
			}
			out = append(out, found...)
			continue
		}
		data, err := readBounded(a, maxReport)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe"}
		}
		out = append(out, data)
	}
	if len(out) == 0 {
		return nil, usage("name a directory that coalmine probe wrote, such as coalmine-out", "found no %s", report.FileJSON)
	}
	return out, nil
}

// reportsBelow reads the reports of a directory and of those in it. A link is an error: whoever
// filled the directory may have made it.
func reportsBelow(dir string) (out [][]byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, pattern := range []string{report.FileJSON, "*/" + report.FileJSON} {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := session.ReadFile(root, name, maxReport)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", dir, err)
			}
			out = append(out, data)
		}
	}
	return out, nil
}
