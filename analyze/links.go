package analyze

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// links are what coalmine gave the server, and which an address in an answer may hold.
type links struct{ given []string }

// The bounds of what is looked for in addresses: the shortest text that is told from
// chance, and how many are remembered.
const (
	leastGiven = 8
	maxGiven   = 256
	maxLinks   = 64
)

// sent remembers the texts of a request's arguments.
func (k *links) sent(params json.RawMessage) {
	var p struct {
		Arguments any `json:"arguments"`
	}
	if json.Unmarshal(params, &p) == nil {
		k.remember(p.Arguments)
	}
}

func (k *links) remember(v any) {
	switch v := v.(type) {
	case string:
		if len(v) < leastGiven || len(v) > 4<<10 || slices.Contains(k.given, v) {
			return
		}
		if k.given = append(k.given, v); len(k.given) > maxGiven {
			k.given = slices.Delete(k.given, 0, 1)
		}
	case []any:
		for _, e := range v {
			k.remember(e)
		}
	case map[string]any:
		for _, e := range v {
			k.remember(e)
		}
	}
}

// images are addresses that a client loads by itself, anchors those that somebody follows.
var (
	images = lazyregexp.New(`!\[[^\]\n]{0,500}\]\(\s*<?(https?://[^\s)>]+)` +
		`|(?i:<(?:img|iframe|image|embed|source|video|audio|script|object)\b[^>]{0,500}?\b(?:src|srcset|href|data)\s*=\s*["\']?)(https?://[^\s"\'>]+)` +
		`|(?m:^\s{0,3}\[[^\]\n]{1,100}\]:\s*<?)(https?://[^\s>]+)`)
	anchors = lazyregexp.New(`\[[^\]\n]{0,500}\]\(\s*<?(https?://[^\s)>]+)|(?i:<a\b[^>]{0,500}?\bhref\s*=\s*["\']?)(https?://[^\s"\'>]+)`)
	// openPlace is a value of a query that a model is to fill in.
	openPlace = lazyregexp.New(`(?i)[?&][\w.-]+=(?:\{+|\$\{|%7B|<|%3C|\[|%5B)[\w .-]{0,40}(?:conversation|history|chat|messages?|context|secret|password|credential|token|key|e-?mail|data|summary|prompt|user|answer|content)` +
		`|[?&][\w.-]+=(?-i:(?:[A-Z]+_)*(?:CONVERSATION|HISTORY|CHAT|MESSAGES?|CONTEXT|SECRETS?|PASSWORDS?|CREDENTIALS?|TOKENS?|KEYS?|EMAIL|DATA|SUMMARY|PROMPT|ANSWER|CONTENT|INPUT|TEXT|QUESTION))\b`)
)

// carried notes the addresses in a result that would carry data of the session away.
func (w *wireReader) carried(seq uint64, result json.RawMessage) {
	if !mayHoldURL(result) {
		return
	}
	detect.EachSaid(result, func(_, s string) {
		if !strings.Contains(s, "://") {
			return
		}
		for _, l := range detect.Once(w.known, "links", s, linksIn) {
			w.link(seq, l.address, l.loaded)
		}
	})
}

// linkIn is an address in a text; loaded says that a client loads it by itself.
type linkIn struct {
	address string
	loaded  bool
}

func linksIn(s string) (out []linkIn) {
	for _, find := range []*lazyregexp.Regexp{images, anchors} {
		for _, m := range find.FindAllStringSubmatch(s, maxLinks) {
			out = append(out, linkIn{strings.Join(m[1:], ""), find == images})
		}
	}
	return out
}

// mayHoldURL tells most values that hold no "://", which JSON may write with escapes.
func mayHoldURL(v []byte) bool {
	return bytes.Contains(v, []byte("://")) || bytes.Contains(v, []byte(`\/`)) || bytes.Contains(v, []byte(`\u`))
}

// maxIconDepth bounds how deep in a message icons are looked for.
const maxIconDepth = 8

// icons notes the icons in an answer whose addresses would carry data of the session away: a
// client loads them by itself (MCP 2025-11-25, icons of tools, prompts, resources and servers).
func (w *wireReader) icons(seq uint64, v []byte, depth int) {
	if depth > maxIconDepth {
		return
	}
	wire.WalkArray(v, func(_ int, v []byte) { w.icons(seq, v, depth+1) })
	wire.Walk(v, func(key, v []byte) {
		if string(key) != "icons" {
			w.icons(seq, v, depth+1)
			return
		}
		wire.WalkArray(v, func(_ int, icon []byte) {
			raw, _ := wire.Member(icon, "src")
			if src, ok := wire.Text(raw); ok {
				w.link(seq, src, true)
			}
		})
	})
}

// link notes one address where it carries data.
func (w *wireReader) link(seq uint64, address string, image bool) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return
	}
	how := w.links.carriedBy(u, image)
	if how == "" || len(w.facts.Links) >= maxFacts {
		return
	}
	l := rules.Link{Fact: w.fact(seq, u.Hostname()), Image: image, How: how}
	if !slices.ContainsFunc(w.facts.Links, func(o rules.Link) bool { return o.Tool == l.Tool && o.Text == l.Text && o.How == l.How }) {
		w.facts.Links = append(w.facts.Links, l)
	}
}

// carriedBy says how an address carries what the server was given, "" for not at all.
func (k *links) carriedBy(u *url.URL, image bool) string {
	rest := strings.TrimPrefix(u.String(), u.Scheme+"://"+u.Host)
	if image && openPlace.MatchString(rest) {
		return "open"
	}
	plain, err := url.QueryUnescape(rest)
	if err != nil {
		plain = rest
	}
	host := u.Hostname()
	how := ""
	for _, g := range k.given {
		if strings.Contains(strings.ToLower(g), strings.ToLower(host)) {
			return "" // the caller named it
		}
		switch {
		case how != "":
		case image && strings.Contains(plain, g):
			how = "as it is"
		case containsAny(plain, base64.RawStdEncoding.EncodeToString([]byte(g)), base64.RawURLEncoding.EncodeToString([]byte(g))):
			how = "in base64"
		case containsAny(strings.ToLower(plain), hex.EncodeToString([]byte(g))):
			how = "in hexadecimal"
		}
	}
	return how
}

func containsAny(s string, list ...string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.Contains(s, p) })
}
