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
		Use: "serve [DIR]", Short: "Be an MCP server with read-only tools over session logs and reports",
		Long: "serve speaks MCP on stdin and stdout. Its tools list the session logs and reports of DIR (default: where taps keep\ntheirs), analyse a log, compare sessions over time, and explain rules. Nothing outside DIR is read, nothing is\nwritten, and no word of a logged server is passed on.\n\n" +
			"Exit status: 0 when stdin ends; 2 where DIR is no directory.",
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
