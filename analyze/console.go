package analyze

import (
	"maps"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

// console is what the server's stderr does to the terminal that shows it.
type console struct {
	// tail is a sequence that has begun and not ended yet: a server may write it piece by piece.
	tail  string
	found []rules.Sequence
	told  map[rules.Sequence]bool
	// at is the place in the log of what was written last.
	at rules.Sequence
}

// sequence finds the sequences on stderr that act on a terminal.
func (j *judge) sequence(s string, at time.Duration) {
	if j.building() || len(j.console.found) >= maxSpilled {
		return
	}
	c := &j.console
	c.at = rules.Sequence{Phase: finding.Phase(j.phase), Fact: rules.Fact{Time: at, Tool: j.tool, Call: j.call}}
	all := c.tail + s
	found, rest := detect.TerminalSequences(all)
	c.tail = all[rest:]
	c.keep(found)
}

// all are the sequences so far, and what began and did not end.
func (c console) all() []rules.Sequence {
	c.told, c.found = maps.Clone(c.told), slices.Clip(c.found)
	c.keep(detect.ClosedSequences(c.tail))
	return c.found
}

// keep notes sequences, each of a tool once.
func (c *console) keep(found []detect.TerminalSequence) {
	for _, q := range found {
		one := c.at
		one.Kind, one.Payload, one.Text = q.Kind, q.Payload, "stderr "+q.Says
		one.Severity = [...]finding.Severity{finding.Info, finding.Low, finding.Medium, finding.High}[q.Severity]
		key := rules.Sequence{Kind: q.Kind, Payload: q.Payload, Severity: one.Severity, Fact: rules.Fact{Tool: one.Tool}}
		if c.told[key] || len(c.found) >= maxSpilled {
			continue
		}
		if c.told == nil {
			c.told = map[rules.Sequence]bool{}
		}
		c.told[key] = true
		c.found = append(c.found, one)
	}
}
