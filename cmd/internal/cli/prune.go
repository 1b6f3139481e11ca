package cli

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var (
	agePattern  = regexp.MustCompile(`^([0-9]{1,6})([dhm])$`)
	sizePattern = regexp.MustCompile(`^([0-9]{1,9})(B|KB|MB|GB)?$`)
)

func (e *env) prune() *cobra.Command {
	var dir, older, size string
	o := wiretap.PruneOptions{}
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old session logs", Args: exactArgs(0, "coalmine prune --older-than 30d"),
		RunE: func(*cobra.Command, []string) error {
			var err error
			if o.OlderThan, err = parseAge(older); err != nil {
				return usage("use an age such as 30d or 12h", "--older-than: %w", err)
			}
			if o.MaxBytes, err = parseSize(size); err != nil {
				return usage("use a size such as 2GB", "--max-size: %w", err)
			}
			if o.Keep < 0 {
				return usage("use a number such as 50", "--keep must not be negative")
			}
			if o.OlderThan == 0 && o.Keep == 0 && o.MaxBytes == 0 {
				return usage("coalmine prune --older-than 30d", "prune needs --older-than, --keep or --max-size")
			}
			if dir == "" {
				if dir, err = session.WireDir(); err != nil {
					return usage("name it with --log-dir", "%w", err)
				}
			}
			o.Now = time.Now()
			o.Kept = func(name, why string) {
				fmt.Fprintf(e.out, "kept %s: %s (--force removes it)\n", report.Escape(name, 300), why)
			}
			gone, err := wiretap.Prune(dir, o)
			if info, at := os.Stat(dir); at == nil && !info.IsDir() {
				return usage("name the directory of the logs with --log-dir", "%s is not a directory", dir)
			}
			what := "would remove"
			if o.Delete {
				what = "removed"
			}
			for _, p := range gone {
				fmt.Fprintf(e.out, "%s %s (%d bytes)\n", what, report.Escape(p.Name, 300), p.Size)
			}
			fmt.Fprintf(e.out, "%s %s in %s\n", what, plural(len(gone), "log"), report.Escape(dir, 300))
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&dir, "log-dir", "", "the `DIR` of the logs (default: the one of tap)")
	fl.StringVar(&older, "older-than", "", "remove logs older than `AGE`, such as 30d or 12h")
	fl.IntVar(&o.Keep, "keep", 0, "keep the newest `N` logs")
	fl.StringVar(&size, "max-size", "", "remove the oldest logs until the rest is at most `SIZE`")
	fl.BoolVar(&o.Force, "force", false, "also remove logs with errors: lines that cannot be read, missing frames, failed detectors")
	fl.BoolVar(&o.Delete, "apply", false, "remove the logs (without it, only list them)")
	return cmd
}

// parseAge reads 30d, 12h or 90m; an empty text is no age.
func parseAge(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	m := agePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is not an age", s)
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
		return 0, fmt.Errorf("%q is not a size", s)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n * map[string]int64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[m[2]], err
}
