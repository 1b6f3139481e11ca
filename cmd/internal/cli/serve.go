package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/serve"
)

func (e *env) serve() *cobra.Command {
	f := &logFlags{}
	var address string
	cmd := &cobra.Command{
		Use: "serve [DIR]", Short: "Serve session logs and reports through read-only MCP tools, or as pages",
		Long: "serve speaks MCP on stdin and stdout. Its tools list the session logs and reports of DIR (default: the directory of\ntap), analyse a log, compare sessions over time, and explain rules. It reads nothing outside DIR, writes nothing,\nand passes on no text of a logged server.\n\n" +
			"With --http, serve shows pages to a browser on this machine instead: the list of logs, the report on each, and drift\nover time. It prints their address, which has a secret path: other users of the machine do not read your logs.\n\n" +
			"Exit status: 0 when stdin ends, or --http is interrupted; 2 when DIR is not a directory or the address is not on loopback.",
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
			options := serve.Options{Root: root, Version: version(), Detect: o}
			if address != "" {
				return e.console(cmd.Context(), address, options)
			}
			s := serve.Server(options)
			in, out := serve.DrainBeforeEOF(cmd.Context(), e.in, e.out)
			err = s.Run(cmd.Context(), &mcp.IOTransport{Reader: in, Writer: out})
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&address, "http", "", "show pages on this loopback `ADDRESS`, such as 127.0.0.1:8080 (port 0 takes a free one)")
	return cmd
}

// console serves pages until ctx ends.
func (e *env) console(ctx context.Context, address string, o serve.Options) error {
	c, l, err := serve.Listen(ctx, address, o)
	if errors.Is(err, serve.ErrNotLoopback) {
		return usage("use 127.0.0.1:PORT or [::1]:PORT; for another machine, forward the port with ssh -L", "--http %w", err)
	}
	if err != nil {
		return usage("use another port, or 0 for a free one", "%w", err)
	}
	fmt.Fprintf(e.out, "open %s\n", c.URL())
	return c.Serve(ctx, l)
}
