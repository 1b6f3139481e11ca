package detect

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/text/classifier"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// likely finds texts that read like orders to a model, though no expression and no word list knows
// their wording: in what the server declares, and where coalmine is the client in what it answers and
// sends, too. There nobody else's words come back but those that coalmine sent.
type likely struct {
	seen           seenOnce
	read, compared int
}

func (*likely) name() string { return "likely_order" }

// maxLikely bounds the bytes that are classified in one session: it takes longer than a search.
const maxLikely = 1 << 20

func (l *likely) event(c *context) {
	switch {
	case isDeclaration(c):
		if l.seen.isNew(c.Result) { // lists come again after each call
			eachEntry(c, l.entry)
		}
	case !c.own || !c.FromServer():
	case c.Kind == wire.Response:
		body := c.Result
		if body == nil {
			body = c.Fault
		}
		l.answer(c, body)
	case c.Kind == wire.Request || c.Kind == wire.Notification:
		l.answer(c, c.Params)
	}
}

// entry looks at one declaration: list is the list that it stands in, "" for what the server says of itself.
func (l *likely) entry(c *context, list string, what OwnerKind, v []byte) {
	told := map[string]bool{}
	tell := func(place, s string, least float64) {
		w, ok := l.order(c, s, least)
		if !ok || told[place] {
			return
		}
		told[place] = true
		owner, who, extra := ownerOf(list, what, v)
		c.add(Divergence, "likely_poisoning", 2, append([]any{"place", name(place)}, extra...), "%s: its %s reads like an instruction that the user is not to notice: %s", who, name(place), text.Printable(w.Text, maxShown))
		c.found[len(c.found)-1].Declared = &Declared{Owner: owner, Place: place, Words: w.Text}
	}
	var fields []string
	EachSaid(v, func(place, s string) {
		tell(place, s, classifier.Likely)
		if place == inputSchema && strings.Contains(s, " ") {
			fields = append(fields, s)
		}
	})
	// A model reads the descriptions of the properties as one text.
	if len(fields) > 1 {
		tell(inputSchema, strings.Join(fields, " "), classifier.VeryLikely)
	}
}

const inputSchema = "inputSchema"

// maxShown bounds what is shown of a text, in bytes.
const maxShown = 240

// maxLikelyAnswers bounds the texts of answers that are compared with what was sent.
const maxLikelyAnswers = 50

// answer looks at what the server answers or sends. The first text stands for all.
func (l *likely) answer(c *context, body json.RawMessage) {
	if len(body) == 0 {
		return
	}
	done := false
	EachSaid(body, func(_, s string) {
		if done {
			return
		}
		w, ok := l.order(c, s, classifier.Likely)
		if !ok || l.compared >= maxLikelyAnswers {
			return
		}
		l.compared++
		if left := c.sent.foreign(w.Text); left == "" || classifier.Most(left).Score < classifier.Likely {
			return
		}
		done = true
		whose, extra := "the message "+quoted(c.Method), []any{"method", name(c.Method)}
		if c.Asked != nil && c.Asked.Tool != "" {
			whose, extra = "the result of "+quoted(c.Asked.Tool), []any{"tool", name(c.Asked.Tool)}
		}
		c.add(Divergence, "likely_poisoned_answer", 2, extra, "%s reads like an instruction that the user is not to notice: %s", whose, text.Printable(w.Text, maxShown))
	})
}

// order is the part of a text that reads like an order, where it does and nothing else has found it. Each text is read once.
func (l *likely) order(c *context, s string, least float64) (classifier.Window, bool) {
	if len(s) < classifier.Least || l.read >= maxLikely {
		return classifier.Window{}, false
	}
	if !l.seen.isNew([]byte(s)) {
		return classifier.Window{}, false
	}
	l.read += len(s)
	w := classifier.Most(s)
	if w.Score < least || text.HasOrder(s) {
		return classifier.Window{}, false
	}
	return w, true
}
