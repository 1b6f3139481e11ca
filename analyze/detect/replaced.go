package detect

import "strings"

// replacements finds results that name another wallet or account than their call gave, of a tool that answers with
// what it is given: whoever pays by the result pays somebody else.
type replacements struct {
	// waiting are the results that may be such, by tool, until a call of the tool shows that it answers so.
	waiting map[string][]replacement
	told    map[string]bool
	// gave are the identifiers that calls gave so far, packed.
	gave map[string]bool
}

// replacement is a result that names another than it was given.
type replacement struct {
	argument   string
	given, has identifier
}

// What is kept of a session, and read of one call.
const (
	maxWaiting  = 200
	maxGave     = 10_000
	maxArgument = 64 << 10
	// leastEchoed is how long a text is that a result has by no chance, and leastIdentifier the shortest
	// identifier.
	leastEchoed     = 6
	leastIdentifier = 15
)

func (*replacements) name() string { return "replaced_identifier" }

func (q *replacements) event(c *context) {
	if !c.IsCallResult() || c.Asked == nil || len(c.given) == 0 || len(c.given) > maxArgument || len(c.Result) > maxComparedLen {
		return
	}
	if tool := c.Asked.Tool; len(q.waiting[tool]) > 0 && !q.told[tool] {
		for _, w := range q.waiting[tool] {
			if echoes(c.given, c.Result, w.argument) {
				q.tell(c, tool, w)
				break
			}
		}
	}
	if mayIdentify(c.given) {
		q.take(c)
	}
}

// take looks for what a result has in place of what its call gave.
func (q *replacements) take(c *context) {
	if q.gave == nil {
		q.waiting, q.told, q.gave = map[string][]replacement{}, map[string]bool{}, map[string]bool{}
	}
	var given []replacement
	eachString(c.given, func(key, s string) {
		for _, id := range payees(s) {
			given = append(given, replacement{argument: key, given: id})
			if len(q.gave) < maxGave {
				q.gave[packed(id.value)] = true
			}
		}
	})
	if len(given) == 0 || len(q.waiting) >= maxWaiting || len(q.waiting[c.Asked.Tool]) >= maxTold {
		return
	}
	result := joinStrings(c.Result)
	said, others := packed(result), payees(result)
	for _, r := range given {
		if strings.Contains(said, packed(r.given.value)) {
			return
		}
	}
	for _, r := range given {
		for _, id := range others {
			if id.family() == r.given.family() && !q.gave[packed(id.value)] {
				r.has = id
				q.waiting[c.Asked.Tool] = append(q.waiting[c.Asked.Tool], r)
				return
			}
		}
	}
}

func (q *replacements) tell(c *context, tool string, w replacement) {
	q.told[tool] = true
	// The other one is shown whole: it is the server's own, and names who is paid.
	c.add(Divergence, "replaced_identifier", 3, []any{"tool", name(tool), "argument", name(w.argument)},
		"a call of %s gave %s as %s, and the result has %s %s in its place; other calls get back what they gave", quoted(tool), w.given, quoted(w.argument), w.has.kind, name(w.has.value))
	c.identify("a result of %s has another %s than it was given", quoted(tool), quoted(w.argument))
	c.ofTool()
}

// echoes reports whether a result has the text that a call gave in an argument.
func echoes(given, result []byte, argument string) (found bool) {
	said := joinStrings(result)
	eachString(given, func(key, s string) {
		found = found || key == argument && len(s) >= leastEchoed && strings.Contains(said, s)
	})
	return found
}

// payees are the wallets and accounts that a text names.
func payees(s string) (out []identifier) {
	if !mayIdentify([]byte(s)) {
		return nil
	}
	for _, id := range identifiersIn(s) {
		if id.kind == walletKind || id.kind == accountKind {
			out = append(out, id)
		}
	}
	return out
}

// family is what can stand in place of an identifier: an account, or a wallet of the same chain.
func (id *identifier) family() string {
	if id.kind == walletKind {
		return string(id.kind) + id.value[:min(2, len(id.value))]
	}
	return string(id.kind)
}

// mayIdentify reports whether a text has letters and digits in a row as long as an identifier.
func mayIdentify(s []byte) bool {
	// A row covers one of each leastIdentifier characters: most of the text is not looked at.
	for i := leastIdentifier - 1; i < len(s); i += leastIdentifier {
		if !isAlphanumeric(s[i]) {
			continue
		}
		from, to := i, i+1
		for from > 0 && isAlphanumeric(s[from-1]) {
			from--
		}
		for to < len(s) && isAlphanumeric(s[to]) {
			to++
		}
		if to-from >= leastIdentifier {
			return true
		}
		i = to
	}
	return false
}

func isAlphanumeric(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9'
}
