package cli

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/serve"
)

func (e *env) serve() *cobra.Command {
	f := &logFlags{}
	cmd := &cobra.Command{
		Use: "serve [DIR]", Short: "Serve session logs and reports through read-only MCP tools",
		Long: "serve speaks MCP on stdin and stdout. Its tools list the session logs and reports of DIR (default: the directory of\ntap), analyse a log, compare sessions over time, and explain rules. It reads nothing outside DIR, writes nothing,\nand passes on no text of a logged server.\n\n" +
			"Exit status: 0 when stdin ends; 2 when DIR is not a directory.",
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := e.detectOptions(f)
			if err != nil {
				return err
			}
			root, _, err := logDir(args, "coalmine serve [DIR]")
			if err != nil {
				return err
			}
			defer root.Close()
			s := serve.Server(serve.Options{Root: root, Version: version(), Detect: o})
			in, out := serve.DrainBeforeEOF(cmd.Context(), e.in, e.out)
			err = s.Run(cmd.Context(), &mcp.IOTransport{Reader: in, Writer: out})
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	f.add(cmd)
	return cmd
}
