package detect

import "strings"

// gateRecords tells what a gate did; none of it counts against anyone.
type gateRecords struct{}

func (gateRecords) name() string { return "gate_actions" }

// reasons say why a gate acted.
var reasons = map[string]string{
	"":                     "the tool is not in the declared surface",
	"pii_exfiltration":     "a credential was in its parameters",
	"taint_detected":       "its parameters held a delimiter of prompts",
	"schema_violation":     "its arguments do not fit the declared schema",
	"retry_loop_exceeded":  "the same call was repeated too often",
	"attestation_failed":   "the caller did not prove who it is",
	"params_too_deep":      "its parameters were nested too deep to be looked at",
	"params_too_large":     "its parameters were too large to be looked at",
	"batch_unsupported":    "it was a batch",
	"uninspectable_frame":  "it could not be read in one way only",
	"frame_too_deep":       "it was nested too deep",
	"no_surface_timeout":   "no list of tools had been seen by then",
	"policy":               "the policy does not allow it",
	"lock_mismatch":        "the declaration is not the one that was locked",
	"canary_in_result":     "its result held a canary",
	"secret_in_result":     "its result held a secret",
	"pii_in_result":        "its result held a secret",
	"tool_poisoning":       "it held text directed at the model",
	"quarantine_injection": "it held text directed at the model",
}

func (gateRecords) event(c *context) {
	g := c.Gate
	if g == nil || g.Action == "" {
		return
	}
	why := reasons[g.Reason]
	if why == "" {
		why = "for the reason " + quoted(g.Reason)
	}
	what := "a frame"
	extra := []any{"reason", name(g.Reason)}
	if g.Tool != "" {
		what = "the call of " + quoted(g.Tool)
		extra = append(extra, "tool", name(g.Tool))
	}
	if g.URI != "" {
		what = "the resource " + quoted(g.URI)
		extra = append(extra, "uri", name(g.URI))
	}
	switch g.Action {
	case "blocked":
		c.add(Info, "gate_blocked", 1, extra, "the gate blocked %s: %s", what, why)
	case "injected":
		c.add(Info, "gate_injected_response", 1, extra, "the gate answered %s in place of the server", what)
	case "gate_would_block":
		c.add(Info, "gate_would_block", 1, extra, "the gate would have blocked %s: %s", what, why)
	case "gate_skipped":
		c.add(Info, "gate_skipped", 1, extra, "the gate forwarded %s without a check: %s", what, why)
	default:
		action := g.Action
		if !strings.HasPrefix(action, "gate_") {
			action = "gate_" + action
		}
		c.add(Info, name(action), 1, extra, "the gate acted on %s: %s", what, why)
	}
}
