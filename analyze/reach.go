package analyze

import "slices"

// Reach tells apart how far a run came with each declared tool. A tool was looked at where
// it answered a call without an error.
type Reach struct {
	// LookedAt counts the tools that answered, of Tools.
	LookedAt int `json:"lookedAt"`
	Tools    int `json:"tools"`
	// Needing are tools that refused every call and lack something that the report names as a
	// need, Refusing those that refused every call for another reason.
	Needing  []string `json:"needing,omitempty"`
	Refusing []string `json:"refusing,omitempty"`
	// InTime are tools that were not called, or that did not answer, in time.
	InTime []string `json:"notInTime,omitempty"`
	// MadeUp are tools that were looked at only in a start in which coalmine stood in for what they need: with a made-up
	// credential, a file, or an answer on the loopback address.
	MadeUp []string `json:"madeUp,omitempty"`
	// Variables had made-up values: the server does not start without them.
	Variables []string `json:"variables,omitempty"`
}

// reachOf reads the calls of each tool, and the needs.
func reachOf(c *Coverage) *Reach {
	r := &Reach{Variables: c.MadeUp}
	for _, t := range c.Tools {
		if t.What != "tool" {
			continue
		}
		r.Tools++
		i := slices.IndexFunc(c.Needs, func(n Need) bool { return n.Tool == t.Name || slices.Contains(n.Tools, t.Name) })
		needs := i >= 0
		switch {
		case t.OK > 0:
			r.LookedAt++
			if needs && c.Needs[i].Supplied {
				r.MadeUp = append(r.MadeUp, t.Name)
			}
		case t.Calls == t.Timeouts: // none at all among them
			r.InTime = append(r.InTime, t.Name)
		case needs:
			r.Needing = append(r.Needing, t.Name)
		default:
			r.Refusing = append(r.Refusing, t.Name)
		}
	}
	if r.LookedAt == r.Tools && len(r.MadeUp)+len(r.Variables) == 0 {
		return nil
	}
	return r
}
