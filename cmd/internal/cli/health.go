package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/drift"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// healthReport is what coalmine health says, in glassport's form.
type healthReport struct {
	Sessions        int     `json:"sessions"`
	FramesSeen      int64   `json:"frames_seen"`
	FramesBlocked   int64   `json:"frames_blocked"`
	Duration        float64 `json:"session_duration_s"`
	LogBytes        int64   `json:"log_bytes"`
	MissingMetrics  int     `json:"sessions_missing_metrics"`
	DetectorErrors  int     `json:"detector_errors"`
	TailOnly        int     `json:"tail_only_sessions"`
	Unreadable      int     `json:"unreadable_sessions"`
	UnreadableLines int     `json:"unreadable_lines"`
	MissingFrames   int64   `json:"missing_frames"`
	// Changed are logs whose bytes do not have the hash that their last line names.
	Changed int `json:"changed_sessions"`
}

func (e *env) health() *cobra.Command {
	var asJSON bool
	var last int
	cmd := &cobra.Command{
		Use: "health [DIR]", Short: "Check whether the latest sessions were recorded correctly",
		Long: "health sums up the metrics that taps wrote at the end of the latest session logs, and the results of judging them.\n\n" +
			"Exit status: 0, or 3 when a detector failed or a log has gaps; 2 when DIR is not a directory.",
		RunE: func(_ *cobra.Command, args []string) error {
			root, dir, err := logDir(args, "coalmine health [DIR]")
			if err != nil {
				return err
			}
			defer root.Close()
			if last < 1 {
				return usage("use a number such as 10", "--last must be positive")
			}
			h, err := healthOf(root, last)
			if err != nil {
				return err
			}
			if h.DetectorErrors+h.Unreadable+h.UnreadableLines+h.Changed > 0 || h.MissingFrames > 0 {
				e.status = ExitInconclusive
			}
			if asJSON {
				return e.printJSON(h)
			}
			e.printHealth(h, dir)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON in glassport's format")
	cmd.Flags().IntVar(&last, "last", 10, "check this many of the latest sessions")
	return cmd
}

func (e *env) printHealth(h *healthReport, dir string) {
	if h.Sessions == 0 {
		fmt.Fprintln(e.out, "no session log in "+plain(dir))
		return
	}
	state := "healthy"
	if e.status != ExitOK {
		state = fmt.Sprintf("degraded; detector errors: %d, unreadable logs: %d, unreadable lines: %d, missing frames: %d, changed after writing: %d", h.DetectorErrors, h.Unreadable, h.UnreadableLines, h.MissingFrames, h.Changed)
	}
	fmt.Fprintf(e.out, "%s; sessions: %d, frames: %d, blocked: %d, without metrics: %d, without a beginning: %d\n",
		state, h.Sessions, h.FramesSeen, h.FramesBlocked, h.MissingMetrics, h.TailOnly)
}

// healthOf looks at the latest logs by their names, which begin with their time.
func healthOf(root *os.Root, last int) (*healthReport, error) {
	names, err := drift.Logs(root)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	h := &healthReport{}
	for _, name := range names[:min(len(names), last)] {
		h.Sessions++
		f, err := root.Open(name)
		if err != nil {
			h.Unreadable++
			continue
		}
		l, err := detect.Read(io.Reader(f), name, detect.Options{})
		kept := session.IntegrityNone
		if _, seekErr := f.Seek(0, io.SeekStart); err == nil && seekErr == nil {
			kept, err = session.CheckWireLog(f)
		}
		f.Close()
		if kept == session.IntegrityChanged {
			h.Changed++
		}
		if err != nil {
			h.Unreadable++
			continue
		}
		h.DetectorErrors += l.Failures
		h.UnreadableLines += l.Stats.Unreadable
		h.MissingFrames += l.Stats.Missing
		if l.Stats.HeadMissing {
			h.TailOnly++
		}
		m := l.Metrics
		if m == nil {
			h.MissingMetrics++
			continue
		}
		h.FramesSeen += m.FramesSeen
		h.FramesBlocked += m.FramesBlocked
		h.Duration += m.Duration
		h.LogBytes += m.LogBytes
	}
	return h, nil
}
