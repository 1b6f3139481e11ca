// Package stdio is the least MCP server that there can be: a tool or a few over
// stdin and stdout, for the servers that the tests probe. It must never do
// anything by itself that a probe could see.
package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"
)

// Versions are the protocol versions that a server speaks, oldest first.
var Versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// Request is a request, or a notification where ID is missing.
type Request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Server is what to serve.
type Server struct {
	Name, Version string
	// Tools is the declaration of each tool, as JSON.
	Tools []json.RawMessage
	// Page is how many tools a page of the list holds; 0 is all.
	Page int
	// Call runs a tool. An error becomes a result that says so.
	Call func(name string, args map[string]any) (string, error)
	// Seen, if set, looks at each request before it is answered.
	Seen func(Request)
	// Write, if set, writes an answer's line (its newline included) in place of the server.
	Write func(method string, line []byte)
}

type object = map[string]any

// answer has its fields in the order in which all twins write them.
type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// Serve answers until in ends, and returns after the duration that LINGER says, none where it is
// not set.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			s.handle(line, out)
		}
		if err == io.EOF {
			linger, _ := time.ParseDuration(os.Getenv("LINGER"))
			time.Sleep(linger)
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (s *Server) handle(line []byte, out io.Writer) {
	var r Request
	reply := answer{JSONRPC: "2.0"}
	if err := json.Unmarshal(line, &r); err != nil {
		reply.ID, reply.Error = json.RawMessage("null"), fault(-32700, "Parse error")
	} else if reply.ID = r.ID; len(r.ID) == 0 {
		return
	} else {
		if s.Seen != nil {
			s.Seen(r)
		}
		reply.Result, reply.Error = s.answer(r)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(reply) != nil {
		return
	}
	if s.Write != nil {
		s.Write(r.Method, b.Bytes())
		return
	}
	_, _ = out.Write(b.Bytes())
}

func fault(code int, message string) any {
	return struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, message}
}

func (s *Server) answer(r Request) (result, failure any) {
	var p struct {
		ProtocolVersion string
		Cursor          string
		Name            string
		Arguments       object
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &p) != nil {
		return nil, fault(-32602, "Invalid params")
	}
	switch r.Method {
	case "initialize":
		version := Versions[len(Versions)-1]
		if slices.Contains(Versions, p.ProtocolVersion) {
			version = p.ProtocolVersion
		}
		return struct {
			ProtocolVersion string `json:"protocolVersion"`
			Capabilities    object `json:"capabilities"`
			ServerInfo      any    `json:"serverInfo"`
		}{version, object{"tools": object{}}, struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		}{s.Name, s.Version}}, nil
	case "ping":
		return object{}, nil
	case "tools/list":
		return s.list(p.Cursor), nil
	case "tools/call":
		return s.call(p.Name, p.Arguments)
	}
	return nil, fault(-32601, "Method not found")
}

func (s *Server) list(cursor string) any {
	from, to := 0, len(s.Tools)
	if s.Page > 0 {
		_ = json.Unmarshal([]byte(cursor), &from)
		from = min(max(from, 0), len(s.Tools))
		to = min(from+s.Page, len(s.Tools))
	}
	page := object{"tools": append([]json.RawMessage{}, s.Tools[from:to]...)}
	if to < len(s.Tools) {
		next, _ := json.Marshal(to)
		page["nextCursor"] = string(next)
	}
	return page
}

func (s *Server) call(name string, args object) (result, failure any) {
	known := slices.ContainsFunc(s.Tools, func(raw json.RawMessage) bool {
		var t struct{ Name string }
		return json.Unmarshal(raw, &t) == nil && t.Name == name
	})
	if !known {
		return nil, fault(-32602, "Unknown tool")
	}
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	text, err := s.Call(name, args)
	if err != nil {
		return struct {
			Content []content `json:"content"`
			IsError bool      `json:"isError"`
		}{[]content{{"text", err.Error()}}, true}, nil
	}
	return object{"content": []content{{"text", text}}}, nil
}
