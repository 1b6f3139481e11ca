package gate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// LockSchema is the version of a lock file.
const LockSchema = "coalmine/lock/v1"

// LockFile is how the file is called where nobody says otherwise.
const LockFile = "coalmine.lock"

// Lock is what a server may declare, as hashes: SHA-256 over the JSON value with
// its members sorted and without white space. What was absent has no hash.
type Lock struct {
	Schema string `json:"schema"`
	// Server is who it was, for people: it is not compared.
	Server       string         `json:"server,omitempty"`
	Instructions string         `json:"instructions,omitempty"`
	Tools        map[string]Pin `json:"tools"`
}

// Pin is a tool's declaration by member.
type Pin map[string]string

// pinnedMembers are what a model or a user reads of a tool, beside its name.
var pinnedMembers = []string{"title", "description", "inputSchema", "outputSchema", "annotations"}

// LockOf makes a lock of what a server declares.
func LockOf(s *wire.Surface) (*Lock, error) {
	l := &Lock{Schema: LockSchema, Server: strings.TrimSpace(s.Server.Name + " " + s.Server.Version), Tools: map[string]Pin{}}
	if s.Instructions != "" {
		l.Instructions = digest(encode(s.Instructions))
	}
	for _, t := range s.Tools {
		if _, twice := l.Tools[t.Name]; twice {
			return nil, fmt.Errorf("the tool %.100q is declared twice: what is locked would be either", t.Name)
		}
		l.Tools[t.Name] = pinOf(t.Raw)
	}
	return l, nil
}

// pinOf hashes a tool's entry.
func pinOf(raw json.RawMessage) Pin {
	p := Pin{}
	wire.EachMember(raw, func(key string, value json.RawMessage) {
		if slices.Contains(pinnedMembers, key) && string(value) != "null" {
			p[key] = digest(value)
		}
	})
	return p
}

// digest is the hash of a JSON value in a form of its own.
func digest(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	form := []byte(raw)
	if d.Decode(&v) == nil {
		form = encode(v) // a map is written with its keys sorted
	}
	sum := sha256.Sum256(form)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Encode is the lock's file.
func (l *Lock) Encode() ([]byte, error) {
	raw, err := json.MarshalIndent(l, "", "  ")
	return append(raw, '\n'), err
}

// ParseLock reads a lock's file.
func ParseLock(data []byte) (*Lock, error) {
	var l Lock
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if l.Schema != LockSchema {
		return nil, fmt.Errorf("lock: schema %.40q; this version reads %q", l.Schema, LockSchema)
	}
	if l.Tools == nil {
		return nil, errors.New(`lock: "tools" is missing`)
	}
	return &l, nil
}

// instructionsPin is the hash of instructions, "" for none.
func instructionsPin(raw json.RawMessage) string {
	if raw == nil || string(raw) == `""` || string(raw) == "null" {
		return ""
	}
	return digest(raw)
}

// pinned says how a declaration differs from the lock, "" if it does not.
func (s *Session) pinned(t *wire.Tool) string {
	lock := s.g.opts.Lock
	if lock == nil {
		return ""
	}
	s.c.mu.Lock()
	said := s.c.said
	s.c.mu.Unlock()
	if said != nil && instructionsPin(said.RawInstructions) != lock.Instructions {
		return "the server's instructions are not as they were locked"
	}
	pin, ok := lock.Tools[t.Name]
	if !ok {
		return "the tool is not in the lock"
	}
	now := pinOf(t.Raw)
	var differ []string
	for _, member := range pinnedMembers {
		if now[member] != pin[member] {
			differ = append(differ, member)
		}
	}
	if len(differ) > 0 {
		return "not as it was locked: " + strings.Join(differ, ", ")
	}
	return ""
}

// Declared reads a session's log for what the server declared last. It is an
// error if no complete list of tools is in it.
func Declared(frames iter.Seq2[session.Frame, error]) (*wire.Surface, error) {
	s := New(Options{}).Session()
	// A log is not waited for.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for f, err := range frames {
		switch {
		case err != nil:
			return nil, err
		case f.Dir == session.C2S:
			s.Client(ctx, f.Bytes())
		default:
			s.Server(f.Bytes())
		}
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	tools := s.c.state.Surface
	if tools == nil {
		tools = s.c.state.Last
	}
	if tools == nil {
		return nil, errors.New("no complete tools/list is in the log")
	}
	out := &wire.Surface{}
	for _, name := range tools.Names {
		out.Tools = append(out.Tools, *tools.Tools[name])
	}
	if said := s.c.said; said != nil {
		out.Server, out.Instructions = said.Server, said.Instructions
	}
	return out, nil
}
