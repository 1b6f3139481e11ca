package cli

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
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
			if err := os.WriteFile(out, data, 0o644); err != nil {
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
	var names []string
	for _, a := range args {
		info, err := os.Stat(a)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe, or a directory of runs"}
		}
		if !info.IsDir() {
			names = append(names, a)
			continue
		}
		for _, pattern := range []string{report.FileJSON, "*/" + report.FileJSON} {
			found, err := fs.Glob(os.DirFS(a), pattern)
			if err != nil {
				return nil, err
			}
			for _, name := range found {
				names = append(names, filepath.Join(a, name))
			}
		}
	}
	if len(names) == 0 {
		return nil, usage("name a directory that coalmine probe wrote, such as coalmine-out", "found no %s", report.FileJSON)
	}
	var out [][]byte
	for _, name := range names {
		data, err := readBounded(name, maxReport)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the report.json of a probe"}
		}
		out = append(out, data)
	}
	return out, nil
}
