package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

// Version is set by the linker in a release.
var Version = ""

func version() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// build is what coalmine version prints. Commit and Date are "" where the build did not
// record them.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Date is the commit's, as RFC 3339.
	Date string `json:"date,omitempty"`
	// Modified says that the sources were not those of the commit.
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// builtFrom reads what the Go command recorded of the build (go help buildvcs).
func builtFrom() build {
	b := build{Version: version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (e *env) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version, the commit and its date", Args: exactArgs(0, "coalmine version"),
		RunE: func(*cobra.Command, []string) error {
			b := builtFrom()
			if asJSON {
				return report.Encode(e.out, b)
			}
			fmt.Fprintf(e.out, "coalmine %s\n", b.Version)
			if b.Commit != "" {
				modified := ""
				if b.Modified {
					modified = ", with changes"
				}
				fmt.Fprintf(e.out, "commit %s of %s%s\n", b.Commit, b.Date, modified)
			}
			fmt.Fprintf(e.out, "%s %s/%s\n", b.Go, b.OS, b.Arch)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
