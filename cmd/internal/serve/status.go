package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// gateOut is what a gate did in a session. No text of the server's or the client's is in it.
type gateOut struct {
	Log string `json:"log"`
	// Gated says that the log has any mark of a gate.
	Gated   bool           `json:"gated"`
	Actions map[string]int `json:"actions"`
	// Blocked counts the calls that were, or would have been, blocked, by tool.
	Blocked map[string]int `json:"blocked_tools"`
	Frames  int            `json:"frames"`
}

// gateActions are the actions that a log may name.
var gateActions = []string{"blocked", "gate_would_block", "gate_skipped", "gate_disabled", "gate_allowed", "injected"}

func (h *handlers) gate(ctx context.Context, in logIn) (any, error) {
	f, err := h.openLog(in.Log, maxLog)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := gateOut{Log: fileName(in.Log), Actions: map[string]int{}, Blocked: map[string]int{}}
	for frame, err := range session.ReadFrames(cancelled{ctx, f}, nil) {
		if err != nil {
			return nil, errCutOff
		}
		out.Frames++
		var g session.Gate
		if len(frame.Gate) == 0 || json.Unmarshal(frame.Gate, &g) != nil || !slices.Contains(gateActions, g.Action) {
			continue
		}
		out.Gated = true
		out.Actions[g.Action]++
		if g.Action == "blocked" || g.Action == "gate_would_block" {
			if tool := fileName(g.Tool); len(out.Blocked) < maxListed || out.Blocked[tool] > 0 {
				out.Blocked[tool]++
			}
		}
	}
	return out, nil
}

type auditIn struct {
	Directory string `json:"directory" jsonschema:"a directory below the served one, . for itself"`
}

type auditOut struct {
	Directory string   `json:"directory"`
	Score     int      `json:"score"`
	Grade     string   `json:"grade"`
	Ungraded  string   `json:"ungraded,omitempty"`
	Capped    string   `json:"capped,omitempty"`
	Files     int      `json:"files_read"`
	Findings  []string `json:"findings"`
	More      int      `json:"more"`
}

func (h *handlers) audit(ctx context.Context, in auditIn) (any, error) {
	refused := errors.New("there is no such directory in the served one")
	if info, err := h.Root.Stat(in.Directory); err != nil || !info.IsDir() {
		return nil, refused
	}
	dir, err := h.Root.OpenRoot(in.Directory)
	if err != nil {
		return nil, refused
	}
	defer dir.Close()
	r, err := audit.Tree(ctx, dir.FS(), "source", audit.Options{})
	if err != nil {
		return nil, errors.New("the directory could not be audited: it has no source that can be read")
	}
	out := auditOut{Directory: fileName(in.Directory), Score: r.Score, Grade: r.Grade, Ungraded: r.Ungraded, Capped: r.Capped, Files: r.Profile.FilesScanned, Findings: []string{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		if len(out.Findings) == maxFindings {
			out.More = len(r.Findings) - i
			break
		}
		at := finding.Location{Path: "?"}
		if f.Location != nil {
			at = *f.Location
		}
		// The rule is the audit's own, and the file's name could speak.
		out.Findings = append(out.Findings, fmt.Sprintf("**%s** %s at %s:%d", f.Severity, f.Rule, fileName(at.Path), at.Line))
	}
	return out, nil
}
