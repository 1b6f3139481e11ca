package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

func (e *env) lock() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "lock [--out FILE] LOG  |  lock [--out FILE] -- COMMAND…",
		Short: "Write down, as hashes, what a server declares",
		Long: "lock hashes what a server declares: each tool's name, title, description, schemas and annotations, and the\n" +
			"instructions. It reads them from a session's LOG, which runs nothing, or starts COMMAND as a client would.\n" +
			"coalmine gate --lock FILE then holds the server to it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var l *gate.Lock
			var err error
			switch dash := cmd.ArgsLenAtDash(); {
			case dash == 0 && len(args) > 0:
				l, err = wiretap.LockCommand(cmd.Context(), args)
				var absent *exec.Error
				var barred *fs.PathError
				if errors.As(err, &absent) || errors.As(err, &barred) {
					err = usage("give the server's command after --, as its client would start it", "%w", err)
				}
			case dash < 0 && len(args) == 1:
				if l, err = wiretap.LockLog(args[0]); err != nil {
					err = usage("name a session's log in which the tools were listed, or a command after --", "%w", err)
				}
			default:
				return usage("coalmine lock LOG, or coalmine lock -- COMMAND…", "what is to be locked was not named")
			}
			if err != nil {
				return err
			}
			data, err := l.Encode()
			if err != nil {
				return err
			}
			if out == "-" {
				_, err = e.out.Write(data)
				return err
			}
			if err := os.WriteFile(out, data, 0o644); err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name another file with --out"}
			}
			fmt.Fprintf(e.out, "locked %d tools in %s\n", len(l.Tools), report.Escape(out, 300))
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", gate.LockFile, "write to `FILE`, - for stdout")
	return cmd
}
