package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// maxTenantCalls bounds the calls for which one stores and another reads, and tenantTime their time.
	maxTenantCalls = 48
	tenantTime     = 10 * time.Second
)

var (
	// tenantName is the name of an argument that names a tenant.
	tenantName = lazyregexp.New(`(?i)^(?:tenant|customer|account|org(?:ani[sz]ation)?|client|namespace|company|team|user|owner)(?:[_-]?(?:id|name|key|code|slug))?$`)
	// searchName is the name of an argument that holds what is searched for.
	searchName = lazyregexp.New(`(?i)^(?:q|query|search|text|terms?|keywords?|phrase|question|contains|prompt)$`)
)

// tenants stores a text for one tenant with each tool that takes a tenant's name. Then each tool that takes the same
// argument reads for another tenant, or changes what the first one made. The text comes back only where tenants are not
// kept apart.
func (d *driver) tenants() {
	s, names := d.bounded(maxTenantCalls, tenantTime), map[string]bool{}
	for _, w := range d.writers() {
		args, _ := membersOf(w.base)
		for _, name := range slices.Sorted(maps.Keys(args)) {
			isTenant, known := names[name]
			if !known {
				isTenant = tenantName.MatchString(name) || d.keptApart(name)
				names[name] = isTenant
			}
			if of, isText := args[name].(string); isText && isTenant {
				s.forget()
				s.readByAnother(w, args, name, of)
			}
		}
	}
}

// writers are the tools that may store something, in the order in which they are called.
func (d *driver) writers() []*target {
	return slices.DeleteFunc(order(d.tools), func(t *target) bool {
		_, ok := membersOf(t.base)
		return !ok || t.rank > middleRank || t.isReadOnly()
	})
}

// isReadOnly reports whether a tool declares that it changes nothing.
func (t *target) isReadOnly() bool {
	return t.decl.Annotations != nil && t.decl.Annotations.ReadOnly != nil && *t.decl.Annotations.ReadOnly
}

// readByAnother stores a word for a tenant and reads for another.
func (s *sequence) readByAnother(w *target, args map[string]any, name, of string) {
	word := oracle.Token(s.d.seed(w), w.name+"\x00"+name, 0)
	stored, said := marked(args, name, word)
	var readers, changers []*target
	for _, t := range order(s.d.tools) {
		read, ok := membersOf(t.base)
		switch {
		case t == w || !ok || read[name] == nil:
		case t.isReadOnly() || t.rank == middleRank || t.rank == readsRank:
			readers = append(readers, t)
		case len(t.madeBy(w)) > 0:
			changers = append(changers, t)
		}
	}
	readers = append(readers, changers...)
	if said == "" || len(readers) == 0 {
		return
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		return
	}
	s.make(w, raw)
	for _, t := range readers {
		read, ok := membersOf(s.filled(t.base, t.madeBy(w)...))
		if !ok {
			continue
		}
		read[name] = another(of)
		for key := range read {
			if searchName.MatchString(key) && key != name {
				read[key] = said
			}
		}
		in := session.Injection{Oracle: session.OracleTenant, Context: of, At: "/" + session.EscapePointer(name), Value: word}
		if raw, err := json.Marshal(read); err == nil {
			s.call(t, raw, in)
		}
		for _, raw := range joinedAlike(stored, read, name, word) {
			s.call(t, raw, in)
		}
	}
}

// joinedAlike are calls for another tenant that read what was stored where the tenant's name and another argument's text
// are joined without a sign between them: "ab" and "c" is "a" and "bc".
func joinedAlike(stored, read map[string]any, tenant, word string) (out []json.RawMessage) {
	of, _ := stored[tenant].(string)
	for _, key := range slices.Sorted(maps.Keys(read)) {
		what, isText := stored[key].(string)
		if _, asked := read[key].(string); !isText || !asked || key == tenant || len(of) < 2 || strings.Contains(what, word) {
			continue
		}
		other := maps.Clone(read)
		other[tenant], other[key] = of[:len(of)-1], of[len(of)-1:]+what
		if raw, err := json.Marshal(other); err == nil {
			out = append(out, raw)
		}
	}
	return out
}

// sentence is a text of several words, and plainWord one of letters alone, as a name. A date is neither.
var (
	sentence  = lazyregexp.New(`\pL{2,} +\pL{2,}`)
	plainWord = lazyregexp.New(`^\pL{2,40}$`)
)

// marked are arguments in which a word follows the sentences, or else the plain words, but for a tenant's name, and the
// longest of these texts.
func marked(args map[string]any, tenant, word string) (stored map[string]any, said string) {
	if stored, said = markedLike(args, tenant, word, sentence); said == "" {
		stored, said = markedLike(args, tenant, word, plainWord)
	}
	return stored, said
}

func markedLike(args map[string]any, tenant, word string, like *lazyregexp.Regexp) (stored map[string]any, said string) {
	stored = maps.Clone(args)
	for key, value := range args {
		text, isText := value.(string)
		if key == tenant || !isText || !like.MatchString(text) {
			continue
		}
		stored[key] = text + " " + word
		if len(text) > len(said) || len(text) == len(said) && text < said {
			said = text
		}
	}
	return stored, said
}

// keptApart reports whether the server promises to keep apart what an argument names: "each practice sees its own visits".
func (d *driver) keptApart(name string) bool {
	apart := text.KeptApart(name)
	if apart == nil || d.cfg.Surface == nil {
		return false
	}
	return apart.MatchString(d.cfg.Surface.Instructions) || slices.ContainsFunc(d.cfg.Surface.Tools, func(t wire.Tool) bool { return apart.MatchString(t.Description) })
}

// madeBy are the arguments of which the schema says that another tool returned them.
func (t *target) madeBy(w *target) (out []string) {
	args, _ := membersOf(t.base)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if len(w.name) >= leastToolName && wordIn(describedAs(t, name), w.name) {
			out = append(out, name)
		}
	}
	return out
}

// leastToolName is the shortest name of a tool that no word of a description is by chance.
const leastToolName = 5

// another is a name of the same form.
func another(name string) string {
	b := []byte(name)
	for i := len(b) - 1; i >= 0; i-- {
		switch c := b[i]; {
		case c >= 'a' && c < 'z', c >= 'A' && c < 'Z', c >= '0' && c < '9':
			b[i]++
			return string(b)
		case c == 'z', c == 'Z', c == '9':
			b[i]--
			return string(b)
		}
	}
	return name + "2"
}
