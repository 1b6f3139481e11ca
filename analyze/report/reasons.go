package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// neverStarted are the codes that all follow from a server that exits before initialize.
var neverStarted = []session.Code{session.GapHandshakeFailed, session.GapServerEnded, session.GapNothingDeclared, session.GapNothingCalled}

// shownReasons are the gaps of a result for a reader. Where the server exited before
// initialize, one line says so in place of one for each consequence.
func shownReasons(res *analyze.Result) []string {
	codes := func(code session.Code) bool {
		return slices.ContainsFunc(res.Gaps, func(g session.Gap) bool { return g.Code == code })
	}
	if len(res.Gaps) != len(res.Inconclusive) || res.Server.Exit == "" || !codes(session.GapHandshakeFailed) || !codes(session.GapServerEnded) {
		return res.Inconclusive
	}
	line := fmt.Sprintf("The server exited (%s) before initialize.", strings.TrimPrefix(res.Server.Exit, "exit "))
	if last := tail(res.Server.Stderr, 1); len(last) > 0 {
		line += " Last stderr: " + last[0]
	}
	out := []string{line}
	for i := range res.Gaps {
		if g := &res.Gaps[i]; !slices.Contains(neverStarted, g.Code) && g.Cause != session.CauseHandshakeFailed {
			out = append(out, res.Inconclusive[i])
		}
	}
	return out
}

// unaudited says why a result has no audit.
func unaudited(res *analyze.Result) string {
	return cmp.Or(Clean(res.Unaudited, 200), "the command names no source files")
}

// relisted says how often the run read the declarations again.
func relisted(r session.Reached) string {
	if r.Reached == r.Total {
		return "tools/list re-read after all " + plural(r.Total, "call")
	}
	return fmt.Sprintf("tools/list re-read after %d of %s", r.Reached, plural(r.Total, "call"))
}

// sunk is the text of an evidence. Of a connection it says where it ended: nothing leaves the
// sandbox, the sinkhole answered.
func sunk(res *analyze.Result, e *finding.Evidence) string {
	contained := strings.HasPrefix(res.Run.Network, "sinkhole") || strings.HasPrefix(res.Run.Network, "loopback")
	if !contained || !e.Outside {
		return e.Text
	}
	return e.Text + " (sinkhole; nothing left the sandbox)"
}
