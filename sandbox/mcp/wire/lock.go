package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// PinnedMembers are what a model or a user reads of a tool, beside its name.
var PinnedMembers = []string{"title", "description", "inputSchema", "outputSchema", "annotations"}

// LockOf makes a lock of what a server declares.
func LockOf(s *Surface) (*Lock, error) {
	l := &Lock{Schema: LockSchema, Server: strings.TrimSpace(s.Server.Name + " " + s.Server.Version), Tools: map[string]Pin{}}
	if s.Instructions != "" {
		l.Instructions = digest(compact(s.Instructions))
	}
	for _, t := range s.Tools {
		if _, twice := l.Tools[t.Name]; twice {
			return nil, fmt.Errorf("the tool %.100q is declared twice: what is locked would be either", t.Name)
		}
		l.Tools[t.Name] = PinOf(t.Raw)
	}
	return l, nil
}

// PinOf hashes a tool's entry.
func PinOf(raw json.RawMessage) Pin {
	p := Pin{}
	EachMember(raw, func(key string, value json.RawMessage) {
		if slices.Contains(PinnedMembers, key) && string(value) != "null" {
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
		form = compact(v) // a map is written with its keys sorted
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

// InstructionsPin is the hash of instructions, "" for none.
func InstructionsPin(raw json.RawMessage) string {
	if raw == nil || string(raw) == `""` || string(raw) == "null" {
		return ""
	}
	return digest(raw)
}

// compact writes a value with its keys sorted, and HTML as it is.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil // all that is written here came out of a decoder
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// LockChange is a declaration that is not as it was locked.
type LockChange struct {
	Change
	// Members are those of a tool that differ, sorted as PinnedMembers are. A change
	// without a tool belongs to the server's instructions.
	Members []string
}

// Since lists how a server's declarations differ from those of an earlier lock, by the tools' names.
func (l *Lock) Since(earlier *Lock) (out []LockChange) {
	if l.Instructions != earlier.Instructions {
		out = append(out, LockChange{Change: Change{Kind: Redeclared}, Members: []string{"instructions"}})
	}
	for _, name := range slices.Sorted(maps.Keys(earlier.Tools)) {
		now, ok := l.Tools[name]
		if !ok {
			out = append(out, LockChange{Change: Change{name, Disappeared}})
			continue
		}
		var members []string
		for _, m := range PinnedMembers {
			if now[m] != earlier.Tools[name][m] {
				members = append(members, m)
			}
		}
		if len(members) > 0 {
			out = append(out, LockChange{Change: Change{name, Redeclared}, Members: members})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Tools)) {
		if _, ok := earlier.Tools[name]; !ok {
			out = append(out, LockChange{Change: Change{name, Appeared}})
		}
	}
	return out
}
