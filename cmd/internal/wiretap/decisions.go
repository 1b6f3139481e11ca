package wiretap

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What a gate decides about a message.
const (
	DecisionPass    = "pass"
	DecisionSkipped = "unchecked" // passed, and could not be checked
	DecisionWould   = "would-block"
	DecisionBlocked = "block"
)

// Decision is what a gate decided about one message of a log, and what another gate would.
type Decision struct {
	// Seq is the frame's number in the log.
	Seq  uint64 `json:"seq"`
	Tool string `json:"tool,omitempty"`
	Was  string `json:"was"`
	Now  string `json:"now"`
	// Why is the reason of the decision now, "" where the message passes.
	Why string `json:"why,omitempty"`
	// Evidence is what the log proves of the message, whatever the other gate decides.
	Evidence session.EvidenceLevel `json:"evidence_level"`
}

// Differs reports whether the other gate decides otherwise. A gate that observes and one
// that blocks decide alike.
func (d *Decision) Differs() bool { return stops(d.Was) != stops(d.Now) }

func stops(decision string) bool { return decision == DecisionBlocked || decision == DecisionWould }

// Decide has a gate with these options judge the messages of a log again, each at the time
// at which it crossed. It returns the calls, and what else was or would be blocked, in
// the order of the log. Nothing is started, and no message is sent.
func Decide(frames iter.Seq2[session.Frame, error], o gate.Options) ([]Decision, error) {
	var now time.Time
	o.Now = func() time.Time { return now }
	s := gate.New(o).Lines()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // a log is not waited for
	var out []Decision
	for f, err := range frames {
		if err != nil {
			return out, fmt.Errorf("judge a log again: %w", err)
		}
		was := session.Gate{}
		if len(f.Gate) > 0 && json.Unmarshal(f.Gate, &was) != nil {
			return out, fmt.Errorf("judge a log again: what the gate did with frame %d cannot be read", f.Seq)
		}
		if was.Action == "injected" {
			continue // the gate's own
		}
		now = f.TS
		judge := s.Server
		if f.Dir == session.C2S {
			judge = func(raw []byte) gate.Verdict { return s.Client(ctx, raw) }
		}
		d := decided(judge(f.Bytes()))
		d.Seq, d.Was, d.Evidence = f.Seq, decision(was.Action), was.Level()
		if tool, isCall := calledTool(f.Bytes()); f.Dir == session.C2S && isCall {
			d.Tool = tool
		} else if !stops(d.Was) && !stops(d.Now) {
			continue
		}
		out = append(out, d)
	}
	return out, nil
}

// decided is what a verdict comes to.
func decided(v gate.Verdict) Decision {
	d := Decision{Now: DecisionPass}
	if v.Mark != nil {
		d.Now, d.Why, d.Tool = decision(v.Mark.Action), v.Mark.Reason, v.Mark.Tool
	}
	return d
}

// decision reads the action of a log.
func decision(action string) string {
	switch action {
	case "blocked":
		return DecisionBlocked
	case "gate_would_block", "gate_disabled":
		return DecisionWould
	case "gate_skipped":
		return DecisionSkipped
	}
	return DecisionPass
}

// calledTool is the tool of a call.
func calledTool(raw []byte) (tool string, isCall bool) {
	var m struct {
		Method string
		Params struct{ Name string }
	}
	if json.Unmarshal(raw, &m) != nil || m.Method != wire.MethodCall {
		return "", false
	}
	return m.Params.Name, true
}
