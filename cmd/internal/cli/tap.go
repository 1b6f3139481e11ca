package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
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
	fl.StringVar(&f.dir, "log-dir", "", "keep the session logs in `DIR` (default $COALMINE_LOG_DIR, else ~/.local/state/coalmine/sessions)")
	fl.StringVar(&f.rotate, "rotate", "256MB", "go on in a next file at this `SIZE`")
}

func (e *env) logOptions(f *wireFlags, as string) (wiretap.LogOptions, error) {
	rotate, err := parseSize(f.rotate)
	if err != nil {
		return wiretap.LogOptions{}, usage("a size such as 64MB", "--rotate: %w", err)
	}
	return wiretap.LogOptions{Dir: f.dir, Rotate: rotate, Say: func(line string) {
		fmt.Fprintln(e.err, as+": "+report.Behind(line, 2000))
	}}, nil
}

// httpFlags say what is proxied, where a server is on HTTP.
type httpFlags struct {
	wiretap.HTTPOptions
	http bool
}

func (f *httpFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.http, "http", false, "be a local proxy for a server on HTTP (Streamable HTTP or SSE)")
	fl.StringVar(&f.URL, "url", "", "with --http: the server's `URL`")
	fl.StringVar(&f.Listen, "listen", "127.0.0.1:0", "with --http: the `ADDRESS` for clients; port 0 is a free one, and is said")
	fl.BoolVar(&f.Anywhere, "listen-anywhere", false, "with --http: allow an address that other machines can reach")
	fl.StringSliceVar(&f.Origins, "allow-origin", nil, "with --http: a web `ORIGIN` that may use the proxy beside this machine's own")
}

// alone names a flag that was given and means nothing without --http, "" for none.
func (f *httpFlags) alone(cmd *cobra.Command) string {
	for _, name := range []string{"url", "listen", "listen-anywhere", "allow-origin"} {
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
		Short: "Stand between a client and a server, and log what they say",
		Long: "tap runs COMMAND in its own place: bytes pass untouched both ways, stderr, signals and the exit status are the\n" +
			"server's own, and a session log is kept beside the way. Write it in a client's configuration before the command.\n" +
			"With --http it is a local proxy for the server at URL.",
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
	switch {
	case h.http && len(args) > 0:
		return usage("leave out one of them", "both --http and a command were given")
	case h.http:
		h.Gate = g
		h.Ready = func(local string) { o.Say("listening on " + local) }
		err := wiretap.HTTP(cmd.Context(), h.HTTPOptions, o)
		var wrong *wiretap.UsageError
		if errors.As(err, &wrong) {
			return &sandbox.UsageError{Err: wrong, Hint: wrong.Hint}
		}
		return err
	case h.alone(cmd) != "":
		return usage(as+" --http --url URL", "--%s needs --http", h.alone(cmd))
	case len(args) == 0:
		return usage(as+" -- COMMAND…", "no command to run")
	case g != nil:
		e.status = wiretap.GateStdio(args, g, o).Leave()
	default:
		e.status = wiretap.Stdio(args, o).Leave()
	}
	return nil
}

func (e *env) prune() *cobra.Command {
	var dir, older, size string
	o := wiretap.PruneOptions{}
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old session logs", Args: exactArgs(0, "coalmine prune --older-than 30d"),
		RunE: func(*cobra.Command, []string) error {
			var err error
			if o.OlderThan, err = parseAge(older); err != nil {
				return usage("an age such as 30d or 12h", "--older-than: %w", err)
			}
			if o.MaxBytes, err = parseSize(size); err != nil {
				return usage("a size such as 2GB", "--max-size: %w", err)
			}
			if o.Keep < 0 {
				return usage("a number such as 50", "--keep must not be below zero")
			}
			if o.OlderThan == 0 && o.Keep == 0 && o.MaxBytes == 0 {
				return usage("coalmine prune --older-than 30d", "nothing says which logs are to go")
			}
			if dir == "" {
				if dir, err = session.WireDir(); err != nil {
					return usage("name it with --log-dir", "%w", err)
				}
			}
			o.Now = time.Now()
			gone, err := wiretap.Prune(dir, o)
			if info, at := os.Stat(dir); at == nil && !info.IsDir() {
				return usage("name the directory of the logs with --log-dir", "%s is no directory", dir)
			}
			what := "would remove"
			if o.Delete {
				what = "removed"
			}
			for _, p := range gone {
				fmt.Fprintf(e.out, "%s %s (%d bytes)\n", what, report.Behind(p.Name, 300), p.Size)
			}
			fmt.Fprintf(e.out, "%s %d logs in %s\n", what, len(gone), report.Behind(dir, 300))
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&dir, "log-dir", "", "the `DIR` of the logs (default as for tap)")
	fl.StringVar(&older, "older-than", "", "what was last written this `AGE` ago, such as 30d or 12h")
	fl.IntVar(&o.Keep, "keep", 0, "all but the newest `N`")
	fl.StringVar(&size, "max-size", "", "the oldest, until the rest is at most this `SIZE`")
	fl.BoolVar(&o.Delete, "apply", false, "remove them; otherwise they are only named")
	return cmd
}

var (
	agePattern  = regexp.MustCompile(`^([0-9]{1,6})([dhm])$`)
	sizePattern = regexp.MustCompile(`^([0-9]{1,9})(B|KB|MB|GB)?$`)
)

// parseAge reads 30d, 12h or 90m; an empty text is no age.
func parseAge(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	m := agePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is no age", s)
	}
	n, err := strconv.Atoi(m[1])
	return time.Duration(n) * map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute}[m[2]], err
}

// parseSize reads 64MB, 10KB or 4096; an empty text is no size.
func parseSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	m := sizePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is no size", s)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n * map[string]int64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[m[2]], err
}
