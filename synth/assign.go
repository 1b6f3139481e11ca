package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// maxAssignCalls bounds the calls that set undeclared members and read them, and assignTime their time.
	maxAssignCalls = 24
	assignTime     = 8 * time.Second
	// maxGranting bounds the members that are set at once.
	maxGranting = 4
)

// granting are members by which a thing has rights or worth, which its owner is not to set.
var granting = []string{"role", "admin", "permission", "privilege", "scope", "credit", "balance", "price", "discount", "owner", "verified", "approved", "plan", "tier", "quota", "paid"}

// assignments sets members that no schema declares, of which the server speaks, in objects that a tool takes, and reads
// with the others whether they were kept (CWE-915).
func (d *driver) assignments() {
	spoken, s := d.spokenOf(granting), d.bounded(maxAssignCalls, assignTime)
	for _, w := range d.writers() {
		members := w.undeclared(spoken)
		if len(members) == 0 {
			continue
		}
		args, _ := membersOf(w.base)
		for _, at := range w.closedObjects(args) {
			s.forget()
			s.assign(w, args, at, members)
		}
	}
}

// declaredObject is what a schema says of an object's members.
type declaredObject struct {
	Properties           map[string]json.RawMessage
	AdditionalProperties json.RawMessage
}

// isClosed reports whether members are declared, and no others invited.
func (o *declaredObject) isClosed() bool {
	more := strings.TrimSpace(string(o.AdditionalProperties))
	return len(o.Properties) > 0 && (more == "" || more == "false")
}

// closedObjects are the objects among a tool's arguments whose members are declared, by their names, "" for the
// arguments themselves: one without declared members holds whatever the caller likes.
func (t *target) closedObjects(args map[string]any) (out []string) {
	var all declaredObject
	if json.Unmarshal(t.decl.InputSchema, &all) != nil || !all.isClosed() {
		return nil
	}
	out = append(out, "")
	for _, name := range slices.Sorted(maps.Keys(args)) {
		var inner declaredObject
		if _, isObject := args[name].(map[string]any); isObject && json.Unmarshal(all.Properties[name], &inner) == nil && inner.isClosed() {
			out = append(out, name)
		}
	}
	return out
}

// spokenOf are those of some names of which the server speaks, in words or in its source.
func (d *driver) spokenOf(names []string) []string {
	said := d.cfg.Surface.Instructions
	for _, t := range d.cfg.Surface.Tools {
		said += "\n" + t.Name + " " + t.Description
	}
	said = strings.ToLower(strings.ReplaceAll(said, "_", " ") + "\n" + strings.Join(d.cfg.Words, "\n") + "\n" + strings.Join(d.cfg.Hints.Literals.Texts, "\n"))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !wordIn(said, name) && !wordIn(said, name+"s") })
}

// undeclared are the first few of some members that a tool's schema and name say nothing of.
func (t *target) undeclared(members []string) []string {
	declared, name := strings.ToLower(string(t.decl.InputSchema)), strings.ToLower(t.name)
	members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return strings.Contains(declared, `"`+m) || strings.Contains(name, m) })
	return members[:min(len(members), maxGranting)]
}

// assign sets members in an object of a tool's arguments, and reads with the other tools.
func (s *sequence) assign(w *target, args map[string]any, at string, members []string) {
	given := maps.Clone(args)
	object := given
	if inner, isObject := args[at].(map[string]any); isObject {
		object = maps.Clone(inner)
		given[at] = object
	}
	var in []session.Injection
	for _, name := range members {
		word := oracle.Token(s.d.seed(w), w.name+"\x00"+at+"\x00"+name, 0)
		object[name] = word
		in = append(in, session.Injection{Oracle: session.OracleAssign, Context: name + ", set by " + w.name, At: strings.TrimSuffix("/"+session.EscapePointer(at), "/"), Value: word})
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return
	}
	s.make(w, raw)
	for _, t := range order(s.d.tools) {
		if t == w || t.base == nil || !t.isReadOnly() && t.rank != readsRank {
			continue
		}
		read, ok := membersOf(s.filled(t.base))
		if !ok {
			continue
		}
		for name := range read { // of the same thing
			if same, isText := args[name].(string); isText {
				read[name] = same
			}
		}
		if raw, err := json.Marshal(read); err == nil {
			s.call(t, raw, in...)
		}
	}
}
