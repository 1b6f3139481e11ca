package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

func (e *env) lock() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "lock [--out FILE] LOG  |  lock [--out FILE] -- COMMAND…",
		Short: "Record hashes of a server's declarations",
		Long: "lock hashes the declarations of a server: the instructions and each tool's name, title, description, schemas and\n" +
			"annotations. It reads them from a session LOG, which runs nothing, or starts COMMAND as a client does.\n" +
			"coalmine gate --lock FILE then enforces them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var l *wire.Lock
			var err error
			switch dash := cmd.ArgsLenAtDash(); {
			case dash == 0 && len(args) > 0:
				l, err = wiretap.LockCommand(cmd.Context(), args)
				var absent *exec.Error
				var barred *fs.PathError
				if errors.As(err, &absent) || errors.As(err, &barred) {
					err = usage("write the server's command after --", "%w", err)
				}
			case dash < 0 && len(args) == 1:
				if l, err = wiretap.LockLog(args[0]); err != nil {
					err = usage("name a session log that contains tools/list, or a command after --", "%w", err)
				}
			default:
				return usage("coalmine lock LOG, or coalmine lock -- COMMAND…", "lock needs a LOG or a command")
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
			if err := writeOutput(out, string(data), 0o644); err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name another file with --out"}
			}
			fmt.Fprintf(e.out, "locked %s in %s\n", plural(len(l.Tools), "tool"), report.Escape(out, 300))
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", wire.LockFile, "write to `FILE`, - for stdout")
	return cmd
}
