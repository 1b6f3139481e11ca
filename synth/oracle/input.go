package oracle

import (
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Input is one text to be put into a string argument.
type Input struct {
	session.Injection
	// Text takes the place of the value that is there, or follows it.
	Text   string
	Append bool
	// Said is what the tool says of itself and its arguments.
	Said string
	// fill makes the text from the value that is there and from what is said, where it depends on them.
	fill func(base, said string) string
}

// In is the input's text for an argument that has this value.
func (i Input) In(base string) string {
	if i.fill != nil {
		return i.fill(base, i.Said)
	}
	if i.Append {
		return base + i.Text
	}
	return i.Text
}

// variant makes an input from a world and a token.
type variant struct {
	oracle, context string
	// after says that the text follows the value that is there.
	after bool
	make  func(w *World, token string) (text string, aim File)
	// fill is make for a text that depends on the value that is there and on what the tool says;
	// nil for none.
	fill func(base, said, token string) string
	// shows is what the server answers where the text had its effect; nil for effects that the
	// tracer sees.
	shows func(token string) string
	// net is the host and the port aimed at; nil for none.
	net func(token string) (host string, port int)
}

// injection is what the log says of the variant.
func (v *variant) injection(token string, aim File) session.Injection {
	in := session.Injection{Oracle: v.oracle, Context: v.context, Path: aim.Stem, Value: aim.Value}
	switch {
	case v.shows != nil:
		in.Value = v.shows(token)
	case aim.Stem == "":
		in.Token = token
	}
	if v.net != nil {
		in.Host, in.Port = v.net(token)
	}
	return in
}

// Meaning is what an argument's name lets expect; it orders the inputs.
type Meaning int

// The meanings.
const (
	Plain Meaning = iota
	Path
	Address
	Code
)

var meanings = []struct {
	meaning Meaning
	words   []string
}{
	{Address, []string{"url", "uri", "href", "link", "endpoint", "webhook", "host", "domain", "address", "callback", "site", "feed"}},
	{Path, []string{"path", "file", "dir", "folder", "directory", "source", "destination", "name", "template", "document", "doc", "note", "id", "key", "page", "slug"}},
	{Code, []string{"expr", "expression", "formula", "code", "template", "script", "filter", "format", "config", "data", "yaml", "state", "query", "rule", "text", "body", "payload"}},
}

// MeaningOf reads an argument's name.
func MeaningOf(name string) Meaning {
	name = strings.ToLower(name)
	for _, m := range meanings {
		for _, w := range m.words {
			if strings.Contains(name, w) {
				return m.meaning
			}
		}
	}
	return Plain
}

// firsts are the oracles tried first for a meaning.
var firsts = map[Meaning][]string{
	Plain:   {session.OracleCommand, session.OracleCode, session.OraclePath, session.OracleArgument},
	Path:    {session.OraclePath, session.OracleCommand, session.OracleArgument, session.OracleCode},
	Address: {session.OracleFetch, session.OracleCommand, session.OraclePath, session.OracleArgument, session.OracleCode},
	Code:    {session.OracleCode, session.OracleCommand, session.OraclePath, session.OracleArgument},
}

// Count is how many inputs there are for one argument.
func Count() int { return len(variants) }

// Oracles is how many oracles there are for one argument. Its first inputs are one of each.
func Oracles() int {
	seen := map[string]bool{}
	for _, v := range variants {
		seen[v.oracle] = true
	}
	return len(seen)
}

// order is the order in which a meaning's inputs are tried: one of each oracle, and then in
// turns, three of the first oracle for one of each other.
func order(m Meaning) []int {
	queues := map[string][]int{}
	for i, v := range variants {
		queues[v.oracle] = append(queues[v.oracle], i)
	}
	names := append([]string(nil), firsts[m]...)
	for _, v := range variants {
		if !contains(names, v.oracle) {
			names = append(names, v.oracle)
		}
	}
	out := make([]int, 0, len(variants))
	for first := true; len(out) < len(variants); first = false {
		for k, name := range names {
			n := 1
			if k == 0 && !first {
				n = 3
			}
			n = min(n, len(queues[name]))
			out = append(out, queues[name][:n]...)
			queues[name] = queues[name][n:]
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

var orders = func() map[Meaning][]int {
	out := map[Meaning][]int{}
	for m := range firsts {
		out[m] = order(m)
	}
	return out
}()

// At is the k-th input for an argument of a meaning, 0 <= k < Count().
func At(w *World, m Meaning, k int, token string) Input {
	v := variants[orders[m][k]]
	text, aim := v.make(w, token)
	in := Input{Text: text, Append: v.after, Injection: v.injection(token, aim)}
	if v.fill != nil {
		in.fill = func(base, said string) string { return v.fill(base, said, token) }
	}
	return in
}

// Bare are the first few inputs of each oracle for a meaning whose text stands for itself: they
// may follow anything.
func Bare(w *World, m Meaning, each int, token func(int) string) []Input {
	var out []Input
	had := map[string]int{}
	for k, i := range orders[m] {
		v := variants[i]
		plain := v.oracle == session.OracleCommand || v.oracle == session.OracleCode || v.oracle == session.OraclePath || v.oracle == session.OracleFetch
		if v.after || !plain || had[v.oracle] >= each {
			continue
		}
		had[v.oracle]++
		out = append(out, At(w, m, k, token(k)))
	}
	return out
}
