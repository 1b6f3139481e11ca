package frames

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"math"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// describe fills an entry from its frame. The lock is held.
func (x *Index) describe(e *entry, f *session.Frame, env *wire.Envelope) {
	e.seq = f.Seq
	if f.Dir == session.S2C {
		e.flags |= flagS2C
	}
	if !f.TS.IsZero() {
		e.time = f.TS.UnixMicro()
		if x.state.First.IsZero() {
			x.state.First = f.TS
		}
		x.state.Last = f.TS
	}
	if f.Gate != nil && member(f.Gate, "action") == "blocked" {
		e.flags |= flagBlocked
		x.state.Blocked++
	}
	if f.Message == nil {
		e.kind = NoJSON
		return
	}
	if env == nil {
		env = &wire.Envelope{}
		if env.Read(f.Message) != nil {
			e.kind = Other
			if bytes.HasPrefix(bytes.TrimSpace(f.Message), []byte{'['}) {
				e.kind = Batch
			}
			return
		}
	}
	switch {
	case env.Method != nil:
		x.request(e, f, env)
	case env.Result != nil || env.Error != nil:
		x.answer(e, f, env)
	default:
		e.kind = Other
	}
}

// did adds a line about what the server did. The lock is held.
func (x *Index) did(scan *session.Scanner, d *session.Did) {
	at, size := scan.Place()
	e := entry{at: at, size: uint32(min(size, math.MaxUint32)), pair: -1, kind: Effect, method: x.name(d.Effect), flags: flagS2C}
	if d.Type == session.DidFinding {
		e.kind, e.method = Finding, x.name(d.Severity+" "+d.Rule)
		e.flags |= flagFailed
		x.state.Findings++
	} else {
		x.state.Effects++
	}
	if len(d.Calls) == 1 {
		e.tool = x.name(d.Calls[0])
	}
	if !d.TS.IsZero() {
		e.time = d.TS.UnixMicro()
	}
	x.add(e)
}

func (x *Index) request(e *entry, f *session.Frame, env *wire.Envelope) {
	method := str(env.Method)
	e.method = x.name(method)
	if env.ID == nil {
		e.kind = Notification
		return
	}
	x.state.Requests++
	switch method {
	case "tools/call":
		x.state.Calls++
		e.tool = x.name(member(env.Params, "name"))
	case "prompts/get":
		e.tool = x.name(member(env.Params, "name"))
	case "resources/read":
		e.tool = x.name(member(env.Params, "uri"))
	}
	if len(x.pending) < maxPending && x.n < MaxFrames {
		x.pending[x.key(f.Dir, env.ID)] = int32(x.n)
	}
}

func (x *Index) answer(e *entry, f *session.Frame, env *wire.Envelope) {
	e.kind = Answer
	x.state.Answers++
	other := session.C2S
	if f.Dir == session.C2S {
		other = session.S2C
	}
	key := x.key(other, env.ID)
	if i, ok := x.pending[key]; ok {
		delete(x.pending, key)
		e.pair, e.method, e.tool = i, x.entry(int(i)).method, x.entry(int(i)).tool
	}
	failed := env.Error != nil
	if !failed && x.names[e.method] == "tools/call" {
		wire.Walk(env.Result, func(k, v []byte) {
			if string(k) == "isError" {
				failed = string(v) == "true"
			}
		})
	}
	if failed {
		e.flags |= flagFailed
		x.state.Failed++
	}
	if x.state.Server == "" && (x.names[e.method] == "initialize" || x.names[e.method] == "server/discover") {
		x.state.Server = server(env.Result)
	}
}

// server is how a server introduces itself in its first answer.
func server(result json.RawMessage) string {
	var r struct {
		Info struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"serverInfo"`
	}
	if len(result) > 1<<20 || json.Unmarshal(result, &r) != nil || r.Info.Name == "" {
		return ""
	}
	return text.Printable(r.Info.Name+" "+r.Info.Version, 120)
}

// key stands for an id that one side chose.
func (x *Index) key(d session.Dir, id []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(x.seed)
	h.WriteString(string(d))
	h.Write(id)
	return h.Sum64()
}

// name is the number of a name, 0 where there is no room for one more.
func (x *Index) name(s string) uint16 {
	if len(s) > maxName {
		s = s[:maxName]
	}
	if n, ok := x.known[s]; ok {
		return n
	}
	if len(x.names) >= maxNames {
		return 0
	}
	s = text.Printable(s, maxName)
	n := uint16(len(x.names))
	x.names = append(x.names, s)
	x.known[s] = n
	return n
}

// member is a string member of an object, "" where there is none.
func member(obj []byte, name string) string {
	out := ""
	wire.Walk(obj, func(k, v []byte) {
		if string(k) == name {
			out = str(v)
		}
	})
	return out
}

// str is a JSON string of bounded length, "" for anything else.
func str(v []byte) string {
	if len(v) < 2 || v[0] != '"' || len(v) > 16*maxName {
		return ""
	}
	if !bytes.ContainsRune(v, '\\') {
		return string(v[1 : len(v)-1])
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
