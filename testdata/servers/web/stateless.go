package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

// modern is the one version that the stateless server speaks.
const modern = "2026-07-28"

// stateless answers a request of 2026-07-28: without a session, and only where the
// headers say what the message says. initialize is a method that it does not know.
func stateless(s *stdio.Server, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name string
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		}
	}
	if json.Unmarshal(body, &m) != nil || r.Header.Get("Mcp-Session-Id") != "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch h := r.Header; {
	case len(m.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		reply(w, http.StatusNotFound, m.ID, "error", `{"code":-32601,"message":"Method not found"}`)
	case m.Params.Meta.Version != modern || h.Get("Mcp-Protocol-Version") != modern || h.Get("Mcp-Method") != m.Method || h.Get("Mcp-Name") != m.Params.Name:
		reply(w, http.StatusBadRequest, m.ID, "error", `{"code":-32001,"message":"Header mismatch"}`)
	case m.Method == "server/discover":
		reply(w, http.StatusOK, m.ID, "result", `{"resultType":"complete","supportedVersions":["`+modern+`"],"capabilities":{"tools":{}},`+
			`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"`+s.Name+`","version":"`+s.Version+`"}},"ttlMs":0,"cacheScope":"private"}`)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer(s, bytes.NewReader(body)))
	}
}

func reply(w http.ResponseWriter, status int, id json.RawMessage, member, value string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(id)+`,"`+member+`":`+value+"}\n")
}
