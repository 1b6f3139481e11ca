package sinkhole

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// maxMessage bounds a WebSocket message that is answered, in bytes.
const maxMessage = 64 << 10

// messages answers what a client says over one WebSocket. The zero value answers JSON alone.
type messages struct {
	graphQL *GraphQL
	turning *Turning
	// fit is a JSON object with the members that the client's code reads, "" for none.
	fit string
	// packets says that the client speaks Engine.IO (socket.io/docs/v4/engine-io-protocol).
	packets bool
	// hello is said before the client says anything, "" for nothing.
	hello string
}

const engineSession = `"sid":"lv_VI97HAXpY6yYWAAAC"`

// messagesFor are the answers on the connection that a request opens.
func (c *Config) messagesFor(r *http.Request, host string) *messages {
	fit, named := fitting(c.Fits, r, host)
	if !named {
		fit = cmp.Or(c.Turning.get().Fit, fit)
	}
	m := &messages{graphQL: c.GraphQL, turning: c.Turning, fit: fit}
	switch {
	case r.URL.Query().Has("EIO"):
		m.packets, m.hello = true, `0{`+engineSession+`,"upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}`
	case strings.HasSuffix(r.URL.Path, "/api/websocket"): // developers.home-assistant.io/docs/api/websocket
		m.hello = `{"type":"auth_required","ha_version":"2026.1.0"}`
	}
	return m
}

// answer is what the service says to one message, in order; nothing to what is neither JSON nor a packet.
func (m *messages) answer(text []byte) []string {
	text = bytes.TrimSpace(text)
	if m.packets {
		return m.packet(string(text))
	}
	var asked map[string]json.RawMessage
	if json.Unmarshal(text, &asked) != nil || asked == nil {
		return nil
	}
	if out, ok := m.subscription(asked); ok {
		return out
	}
	kind, _ := member[string](asked, "type")
	switch kind {
	case "ping":
		return []string{answered(asked, map[string]any{"type": "pong"})}
	case "auth":
		return []string{answered(asked, map[string]any{"type": "auth_ok"})}
	}
	if refusal := m.refusal(); refusal != nil {
		return []string{answered(asked, refusal)}
	}
	result := m.result()
	_, calls := asked["method"]
	if calls { // JSON-RPC, and the protocol of browsers' debuggers
		return []string{answered(asked, map[string]any{"result": result})}
	}
	out := map[string]any{"type": "response", "success": true, "status": "ok", "result": result, "data": result}
	if _, ok := asked["id"]; ok && kind != "" {
		out["type"] = "result"
	}
	return []string{joined(answered(asked, out), m.fit)}
}

// result is what a question is answered with.
func (m *messages) result() json.RawMessage {
	if m.fit == "" || !json.Valid([]byte(m.fit)) {
		return json.RawMessage(`{"id":"1024","name":"Autumn","status":"ok"}`)
	}
	return json.RawMessage(m.fit)
}

// refusal is the answer in turns that refuse, nil in the others.
func (m *messages) refusal() map[string]any {
	switch m.turning.get().Turn {
	case TurnRefused:
		return map[string]any{"success": false, "error": map[string]any{"code": 401, "message": "Authentication is required."}}
	case TurnFailed:
		return map[string]any{"success": false, "error": map[string]any{"code": 503, "message": "Try again later."}}
	}
	return nil
}

// subscription answers GraphQL over WebSocket, in the protocol of graphql-ws and in the older one
// (github.com/enisdenjo/graphql-ws, PROTOCOL.md).
func (m *messages) subscription(asked map[string]json.RawMessage) ([]string, bool) {
	kind, _ := member[string](asked, "type")
	next := "next"
	switch kind {
	case "connection_init":
		return []string{`{"type":"connection_ack"}`}, true
	case "start":
		next = "data"
	case "subscribe":
	default:
		return nil, false
	}
	data, ok := m.graphQL.graphQL(asked["payload"])
	if !ok {
		return nil, false
	}
	return []string{
		answered(asked, map[string]any{"type": next, "payload": json.RawMessage(data)}),
		answered(asked, map[string]any{"type": "complete"}),
	}, true
}

// packet answers Engine.IO, and Socket.IO within its messages.
func (m *messages) packet(text string) []string {
	switch {
	case strings.HasPrefix(text, "2"):
		return []string{"3" + text[1:]}
	case strings.HasPrefix(text, "40"):
		space, _, _ := strings.Cut(text[2:], "{")
		return []string{"40" + space + `{` + engineSession + `}`}
	case strings.HasPrefix(text, "42"):
		// An event with a number is to be acknowledged under it.
		rest := text[2:]
		space := ""
		if strings.HasPrefix(rest, "/") {
			name, after, _ := strings.Cut(rest, ",")
			space, rest = name+",", after
		}
		number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if number != "" {
			return []string{"43" + space + number + "[" + string(m.result()) + "]"}
		}
	}
	return nil
}

// correlating are the members by which a client finds the answer to its question.
var correlating = []string{"jsonrpc", "id", "requestId", "request_id", "requestID", "reqId", "req_id", "messageId", "message_id", "msgId", "msg_id", "correlationId",
	"correlation_id", "callId", "call_id", "sessionId", "session_id", "channel", "topic", "seq", "nonce", "echo", "uuid", "ref", "action", "command", "event", "op"}

// answered is a JSON object that answers a question: with its members, and those of the question that tell which
// one it answers.
func answered(asked map[string]json.RawMessage, with map[string]any) string {
	out := map[string]any{}
	for _, name := range correlating {
		if v, ok := asked[name]; ok {
			out[name] = v
		}
	}
	for name, v := range with {
		out[name] = v
	}
	text, err := json.Marshal(out)
	if err != nil { // all of it came from JSON
		return "{}"
	}
	return string(text)
}

// member is a member of a JSON object.
func member[T any](of map[string]json.RawMessage, name string) (T, bool) {
	var v T
	raw, ok := of[name]
	return v, ok && json.Unmarshal(raw, &v) == nil
}
