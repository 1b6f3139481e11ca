package detect

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// EachSaid calls f with each string of a JSON value, names of members too, since a model
// reads both: place is the member of the value below which it stands, "" for its names.
func EachSaid(v json.RawMessage, f func(place, s string)) {
	top := ""
	wire.Texts(v, func(below [][]byte, quoted []byte, _ bool) {
		place := ""
		if len(below) > 0 {
			if string(below[0]) != top {
				top = string(below[0])
			}
			place = top
		}
		if s, ok := wire.Text(quoted); ok {
			f(place, s)
		}
	})
}

// declarations finds text in what the server declares that is not for the user.
type declarations struct{ seen seenOnce }

// seenOnce remembers what was looked at, up to maxSeen; it is ready when it is zero.
type seenOnce struct {
	seed   maphash.Seed
	hashes map[uint64]bool
}

// isNew reports whether something is looked at for the first time. What cannot be remembered is not.
func (s *seenOnce) isNew(b []byte) bool {
	if s.hashes == nil {
		s.seed, s.hashes = maphash.MakeSeed(), map[uint64]bool{}
	}
	h := maphash.Bytes(s.seed, b)
	if s.hashes[h] || len(s.hashes) >= maxSeen {
		return false
	}
	s.hashes[h] = true
	return true
}

func (*declarations) name() string { return "declared_text" }

// declaring are the methods whose answers a model or a user reads as declarations.
var declaring = map[string]bool{"initialize": true, "server/discover": true, "tools/list": true, "resources/list": true, "resources/templates/list": true, "prompts/list": true}

// entries are the lists of declarations, and what one of their entries is.
var entries = map[string]OwnerKind{"tools": OwnerTool, "resources": OwnerResource, "resourceTemplates": OwnerTemplate, "prompts": OwnerPrompt}

// maxSeen bounds the declarations that are remembered as looked at.
const maxSeen = 1 << 16

// isDeclaration reports whether the event is an answer that declares.
func isDeclaration(c *context) bool {
	return c.Kind == wire.Response && c.FromServer() && declaring[c.Method] && c.Result != nil
}

func (d *declarations) event(c *context) {
	if !isDeclaration(c) || text.Quick(c.Result) {
		return
	}
	eachEntry(c, d.entry)
}

// eachEntry calls f with each declaration of an answer: the list that it stands in, "" for what the server
// says of itself.
func eachEntry(c *context, f func(c *context, list string, what OwnerKind, v []byte)) {
	lists := false
	wire.Walk(c.Result, func(key, value []byte) {
		what, ok := entries[string(key)]
		if !ok || c.Method == wire.MethodInitialize || c.Method == wire.MethodDiscover {
			return
		}
		lists = true
		wire.WalkArray(value, func(_ int, v []byte) { f(c, string(key), what, v) })
	})
	if !lists {
		f(c, "", "", c.Result)
		return
	}
	// What stands beside the entries is the server's.
	wire.Walk(c.Result, func(key, value []byte) {
		if _, ok := entries[string(key)]; !ok {
			f(c, "", "", member(key, value))
		}
	})
}

// member is an object of one member.
func member(key, value []byte) []byte {
	quoted, err := json.Marshal(string(key))
	if err != nil {
		return nil
	}
	return bytes.Join([][]byte{[]byte("{"), quoted, []byte(":"), value, []byte("}")}, nil)
}

// entry looks at one declaration, once: list is the list that it stands in, "" for what
// the server says of itself.
func (d *declarations) entry(c *context, list string, what OwnerKind, v []byte) {
	if !d.seen.isNew(v) || text.Quick(v) {
		return
	}
	owner, who, extra := ownerOf(list, what, v)
	told := map[string]bool{}
	EachSaid(v, func(place, s string) {
		for _, hit := range Once(c.known, "hits", s, text.Scan) {
			sub, severity, how := "tool_poisoning", 3, "gives the model instructions that the user does not see"
			if hit.Rule == text.Hidden {
				sub, severity, how = "hidden_text", 2, "contains characters that a reader cannot see"
				if hit.Kind == tagCharacter {
					severity = 3
				}
			}
			if place == "" {
				place = memberName
			}
			if told[sub+place] {
				continue
			}
			told[sub+place] = true
			c.add(Divergence, sub, severity, append([]any{"place", name(place)}, extra...), "%s: its %s %s: %s", who, name(place), how, hit.Text)
			c.found[len(c.found)-1].Declared = &Declared{Owner: owner, Place: place, Words: hit.Text}
		}
	})
}

// ownerOf is whose a declaration is, in words, too, and what the metadata have of that.
func ownerOf(list string, what OwnerKind, v []byte) (owner Owner, who string, extra []any) {
	if what == "" {
		return Owner{}, "the server", nil
	}
	raw, _ := wire.Member(v, "name")
	s, _ := wire.Text(raw)
	kind := strings.TrimSuffix(list, "s")
	return Owner{what, s}, "the " + kind + " " + quoted(s), []any{kind, name(s)}
}

// memberName is the place of a name of a member of an entry itself.
const memberName = "member name"

// tagCharacter is the kind of a hit of letters that only a model sees.
const tagCharacter = "tag character"

// answers finds text in answers that speaks to the model, or that is not shown: results
// and errors of whatever request, and answers to none.
type answers struct{}

func (answers) name() string { return "result_text" }

// longRun is how many unseen characters in a row are more than an accident of typesetting.
const longRun = 16

func (answers) event(c *context) {
	if c.Kind != wire.Response || !c.FromServer() || isDeclaration(c) {
		return
	}
	body := c.Result
	if body == nil {
		body = c.Fault
	}
	tellSaid(c, body, "result", func() (string, []any) {
		switch {
		case c.Asked == nil:
			return "a response without a request", nil
		case c.Asked.Tool != "":
			return "the result of " + quoted(c.Asked.Tool), []any{"tool", name(c.Asked.Tool)}
		}
		return "the response to " + name(c.Method), nil
	})
}

// messages finds the same in what the server sends unasked: requests (for a model's
// answer, for a user's), notifications (logs, progress) and lines that are no message.
type messages struct{}

func (messages) name() string { return "message_text" }

func (messages) event(c *context) {
	switch {
	case !c.FromServer():
	case c.Kind == wire.Unparsed:
		if raw, err := json.Marshal(string(c.Raw[:min(len(c.Raw), text.MaxText)])); err == nil {
			tellSaid(c, raw, "message", func() (string, []any) { return "a line that is not JSON-RPC", nil })
		}
	case c.Kind == wire.Request || c.Kind == wire.Notification:
		tellSaid(c, c.Params, "message", func() (string, []any) {
			what := "the notification "
			if c.Kind == wire.Request {
				what = "the request "
			}
			return what + quoted(c.Method), []any{"method", name(c.Method)}
		})
	}
}

// tellSaid tells what in a value is not for the user. Of each kind the worst place
// stands for all. about says whose value it is, and what the metadata have of that.
func tellSaid(c *context, body json.RawMessage, where string, about func() (whose string, extra []any)) {
	if len(body) == 0 || text.Quick(body) {
		return
	}
	type worst struct {
		severity  int
		how, text string
		quoted    bool
	}
	var order []string
	var of map[string]worst
	wire.Texts(body, func(_ [][]byte, quoted []byte, isName bool) {
		if isName && text.Quick(quoted) {
			return
		}
		s, _ := wire.Text(quoted)
		for _, h := range Once(c.known, "hits", s, text.Scan) {
			sub, severity, how := judgeSaid(h, where)
			was := of[sub]
			if sub == "" || severity < was.severity || severity == was.severity && (h.Quoted || !was.quoted) || c.sent.hasText(&h, s) {
				continue
			}
			if of[sub].severity == 0 {
				order = append(order, sub)
			}
			if of == nil {
				of = map[string]worst{}
			}
			of[sub] = worst{severity, how, h.Text, h.Quoted}
		}
	})
	if len(order) == 0 {
		return
	}
	whose, extra := about()
	for _, sub := range order {
		c.add(Divergence, sub, of[sub].severity, extra, "%s %s: %s", whose, of[sub].how, of[sub].text)
		c.found[len(c.found)-1].Quoted = of[sub].quoted
	}
}

// judgeSaid weighs a place in what a server says in a "result" or a "message". What it
// passes on from the world holds colours, soft breaks and joiners; letters that only a
// model sees it holds not.
func judgeSaid(h text.Hit, where string) (sub string, severity int, how string) {
	switch {
	case h.Rule == text.Poisoning && strings.HasPrefix(h.Text, text.InTags):
		return "hidden_text_in_" + where, 3, "contains instructions in characters that only a model reads"
	case h.Rule == text.Poisoning:
		return "poisoned_" + where, 2, "gives the model instructions that the user does not see"
	case h.Kind == tagCharacter:
		return "hidden_text_in_" + where, 2, "contains text in characters that only a model reads"
	case h.Kind == "bidirectional control" && h.N == 1 && strings.Contains(h.Text, "U+202E"), h.N >= longRun && h.Kind != "terminal escape" && h.Kind != "control character":
		return "hidden_text_in_" + where, 1, "contains characters that hide or reorder text"
	}
	return "", 0, ""
}
