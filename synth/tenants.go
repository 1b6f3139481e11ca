package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
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

// tenants stores a text for one tenant with each tool that takes a tenant's name, and then reads for another tenant with
// each tool that takes the same argument. The text comes back only where tenants are not kept apart.
func (d *driver) tenants() {
	left, end := maxTenantCalls, d.cfg.Now().Add(tenantTime)
	for _, w := range order(d.tools) {
		if w.base == nil || w.rank > middleRank || w.isReadOnly() {
			continue
		}
		args, ok := membersOf(w.base)
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(args)) {
			if of, isText := args[name].(string); isText && tenantName.MatchString(name) {
				s := &sequence{d: d, end: end, left: &left, made: map[string]string{}}
				s.readByAnother(w, args, name, of)
			}
		}
	}
}

// isReadOnly reports whether a tool declares that it changes nothing.
func (t *target) isReadOnly() bool {
	return t.decl.Annotations != nil && t.decl.Annotations.ReadOnly != nil && *t.decl.Annotations.ReadOnly
}

// readByAnother stores a word for a tenant and reads for another.
func (s *sequence) readByAnother(w *target, args map[string]any, name, of string) {
	word := oracle.Token(s.d.seed(w), w.name+"\x00"+name, 0)
	stored, said := maps.Clone(args), ""
	for key, value := range args {
		text, isText := value.(string)
		if key == name || !isText || !strings.Contains(strings.TrimSpace(text), " ") {
			continue
		}
		stored[key] = text + " " + word
		if len(text) > len(said) || len(text) == len(said) && text < said {
			said = text
		}
	}
	readers := slices.DeleteFunc(order(s.d.tools), func(t *target) bool {
		read, ok := membersOf(t.base)
		return t == w || !ok || read[name] == nil || !t.isReadOnly() && t.rank != middleRank && t.rank != readsRank
	})
	if said == "" || len(readers) == 0 {
		return
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		return
	}
	s.make(w, raw)
	for _, t := range readers {
		read, ok := membersOf(s.filled(t.base))
		if !ok {
			continue
		}
		read[name] = another(of)
		for key := range read {
			if searchName.MatchString(key) && key != name {
				read[key] = said
			}
		}
		if raw, err := json.Marshal(read); err == nil {
			s.call(t, raw, session.Injection{Oracle: session.OracleTenant, Context: of, At: "/" + session.EscapePointer(name), Value: word})
		}
	}
}

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
