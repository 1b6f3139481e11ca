package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/proxy"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// wireFlags are what tap and gate have in common.
type wireFlags struct {
	dir    string
	rotate string
}

func (f *wireFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.SetInterspersed(false)
	fl.StringVar(&f.dir, "log-dir", "", "write session logs to `DIR` (default $COALMINE_LOG_DIR, else ~/.local/state/coalmine/sessions)")
	fl.StringVar(&f.rotate, "rotate", "256MB", "start a new file at this `SIZE`")
}

func (e *env) logOptions(f *wireFlags, as string) (wiretap.LogOptions, error) {
	rotate, err := parseSize(f.rotate)
	if err != nil {
		return wiretap.LogOptions{}, usage("use a size such as 64MB", "--rotate: %w", err)
	}
	// To a client the tap is the server itself: only a person is told where the log is.
	file, ok := e.err.(*os.File)
	return wiretap.LogOptions{Dir: f.dir, Rotate: rotate, Place: ok && term.IsTerminal(int(file.Fd())), Say: func(line string) {
		fmt.Fprintln(e.err, as+": "+report.Escape(line, 2000))
	}}, nil
}

// httpFlags say what is proxied, where a server is on HTTP.
type httpFlags struct {
	wiretap.HTTPOptions
	http bool
}

func (f *httpFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.http, "http", false, "run a local proxy for an HTTP server (Streamable HTTP or SSE)")
	fl.StringVar(&f.URL, "url", "", "with --http: the server's `URL`")
	fl.StringVar(&f.Listen, "listen", "127.0.0.1:0", "with --http: listen on this `ADDRESS` (port 0 picks a free port and prints it)")
	fl.BoolVar(&f.Anywhere, "listen-anywhere", false, "with --http: allow an address that other machines can connect to")
	fl.StringSliceVar(&f.Scope, "scope-header", nil, "with --http: keep requests without a session id apart by this `HEADER` and by their credentials")
	fl.IntVar(&f.Sessions, "max-sessions", proxy.DefaultSessions, "with --http: keep at most `N` sessions apart at a time")
	fl.StringSliceVar(&f.Origins, "allow-origin", nil, "with --http: also allow this web `ORIGIN` (default: only this machine)")
}

// alone names a flag that was given and means nothing without --http, "" for none.
func (f *httpFlags) alone(cmd *cobra.Command) string {
	for _, name := range []string{"url", "listen", "listen-anywhere", "allow-origin", "scope-header", "max-sessions", "public-surface"} {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

func (e *env) tap() *cobra.Command {
	f, h := &wireFlags{}, &httpFlags{}
	cmd := &cobra.Command{
		Use:   "tap [flags] -- COMMAND…  |  tap [flags] --http --url URL",
		Short: "Proxy a server and log its MCP messages",
		Long: "tap runs COMMAND and forwards every byte unchanged in both directions, with the server's stderr, signals and exit\n" +
			"status. It also writes a session log. Put it before the command in a client's configuration. With --http, tap is\n" +
			"a local proxy for the server at URL.",
		RunE: func(cmd *cobra.Command, args []string) error { return e.stand(cmd, f, h, args, "coalmine tap", nil) },
	}
	f.add(cmd)
	h.add(cmd)
	return cmd
}

// stand runs a tap, or a gate if g is not nil.
func (e *env) stand(cmd *cobra.Command, f *wireFlags, h *httpFlags, args []string, as string, g *gate.Gate) error {
	o, err := e.logOptions(f, as)
	if err != nil {
		return err
	}
	o.Header = session.WireHeader{Version: version(), Transport: "stdio", Mode: strings.TrimPrefix(as, "coalmine ")}
	switch {
	case h.http && len(args) > 0:
		return usage("remove one of them", "--http and a command exclude each other")
	case h.http:
		h.Gate = g
		h.Ready = func(local string) { o.Say("listening on " + local) }
		o.Header.Transport = "http"
		return wrongUse(wiretap.HTTP(cmd.Context(), h.HTTPOptions, o))
	case h.alone(cmd) != "":
		return usage(as+" --http --url URL", "--%s needs --http", h.alone(cmd))
	case len(args) == 0:
		return usage(as+" -- COMMAND…", "no server command")
	case g != nil:
		e.status = wiretap.GateStdio(args, g, o).Leave()
	default:
		e.status = wiretap.Stdio(args, o).Leave()
	}
	return nil
}
