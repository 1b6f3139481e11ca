package reassembly

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// isRPC reports whether a text is a JSON-RPC 2.0 message, or a batch with one.
func isRPC(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return false
	}
	if raw[0] != '[' {
		return readsRPC(raw)
	}
	found := false
	wire.WalkArray(raw, func(_ int, v []byte) { found = found || readsRPC(v) })
	return found
}

func readsRPC(raw []byte) bool {
	var e wire.Envelope
	if e.Read(raw) != nil {
		return false
	}
	v, ok := wire.Text(e.Version)
	return ok && v == "2.0"
}

// first is the first message of a text, which may be a batch.
func first(raw []byte) (e wire.Envelope) {
	if e.Read(raw) == nil {
		return e
	}
	done := false
	wire.WalkArray(bytes.TrimSpace(raw), func(_ int, v []byte) {
		var one wire.Envelope
		if !done && one.Read(v) == nil {
			e, done = one, true
		}
	})
	return e
}

// ofServers are the requests and notifications that only servers send.
var ofServers = []string{"sampling/createMessage", "roots/list", "elicitation/create", "notifications/message", "notifications/tools/list_changed",
	"notifications/resources/list_changed", "notifications/resources/updated", "notifications/prompts/list_changed", "notifications/elicitation/complete"}

// ofClients begin the methods that only clients send.
var ofClients = []string{wire.MethodInitialize, wire.MethodInitialized, wire.MethodDiscover, "notifications/roots/", "tools/", "resources/", "prompts/", "completion/", "logging/"}

// ofBoth are those that either side sends.
var ofBoth = []string{"ping", "notifications/cancelled", "notifications/progress", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "notifications/tasks/status"}

// byClient says whether the client sent a message, and whether the message tells.
func byClient(raw []byte) (client, sure bool) {
	e := first(raw)
	method, ok := wire.Text(e.Method)
	switch {
	case !ok:
		return false, false
	case slices.Contains(ofServers, method):
		return false, true
	case slices.Contains(ofBoth, method):
		return true, false
	}
	return true, slices.ContainsFunc(ofClients, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

// content is a message as it is kept. cut says that it is the beginning of a longer one.
type content struct {
	raw []byte
	cut bool
}

// cut is what is kept of a text that is too long, in the words of a tap's log.
func cut(head []byte, what string, n int64) content {
	raw := fmt.Appendf(head[:min(len(head), wire.HeadSize):min(len(head), wire.HeadSize)], "… [cut: the %s has %d bytes]", what, n)
	return content{raw, true}
}
