package wire

import "encoding/json"

// The requests that a server may send to a client (MCP 2025-11-25, Client Features).
const (
	methodSampling    = "sampling/createMessage"
	methodElicitation = "elicitation/create"
	methodRoots       = "roots/list"
)

// Need is the capability of the client that a server's request needs, "" for none:
// "sampling", or "sampling.tools" for one that the client has to grant by itself (MCP
// 2025-11-25, Sampling and Elicitation: Capabilities).
func Need(method string, params json.RawMessage) string {
	switch method {
	case methodRoots:
		return "roots"
	case methodSampling:
		if _, ok := Member(params, "tools"); ok {
			return "sampling.tools"
		}
		return "sampling"
	case methodElicitation:
		if mode, _ := Member(params, "mode"); string(mode) == `"url"` {
			return "elicitation.url"
		}
		return "elicitation"
	}
	return ""
}

// grants are the capabilities of a client, those within another as "sampling.tools".
func grants(caps json.RawMessage) map[string]bool {
	out := names(caps)
	Walk(caps, func(key, value []byte) {
		if !out[string(key)] {
			return
		}
		for within := range names(value) {
			if len(out) < maxNames {
				out[string(key)+"."+within] = true
			}
		}
	})
	return out
}
