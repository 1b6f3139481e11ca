package detect

import (
	"encoding/json"
	"html"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// byPlace compares a text that is JSON with the structured content, place by place.
func (r *reply) byPlace() (out []contradiction) {
	for i, v := range r.parsed {
		root, ok := r.rootFor(v, i)
		if !ok {
			continue
		}
		said, lengths := leaves(v)
		taken, others := leaves(root)
		at := map[string]*leaf{}
		for i := range taken {
			at[joined(taken[i].path)] = &taken[i]
		}
		for i := range said {
			t := &said[i]
			s := at[joined(t.path)]
			if s == nil || shortened(t.path, lengths, others) {
				continue
			}
			if severity := r.differ(t, s); severity > 0 {
				out = append(out, contradiction{placeName(t.path), shownValue(t), shownValue(s), severity})
			}
		}
	}
	return out
}

// labelled is a line of a text that says the value of one thing: "Total: 12.00 EUR".
var labelled = lazyregexp.New(`(?m)^[ \t>*-]*([\pL][\pL\pN _-]{1,39}?)\**[ \t]*[:=]\**[ \t]+(\S.{0,119})$`)

// byLabel compares the numbers and codes behind labels in plain texts with those under the same keys. A label or a key that
// stands there twice tells nothing.
func (r *reply) byLabel() (out []contradiction) {
	at := map[string][]*leaf{}
	for i := range r.leaves {
		k := packed(r.leaves[i].key())
		at[k] = append(at[k], &r.leaves[i])
	}
	said := map[string][]string{}
	for _, s := range r.plain {
		for _, m := range labelled.FindAllStringSubmatch(s, maxLabels) {
			said[packed(m[1])] = append(said[packed(m[1])], strings.TrimSpace(m[2]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(said)) {
		if len(said[k]) != 1 || len(at[k]) != 1 {
			continue
		}
		s := at[k][0]
		t := &leaf{s.path, said[k][0]}
		amounts, codes := isAmount(t.text()) && isAmount(s.text()), isCode(t.text()) && isCode(s.text())
		if !amounts && !codes {
			continue
		}
		severity := r.differ(t, s)
		if severity > 0 && isCode(t.text()) && !isAmount(t.text()) {
			severity = 3 // it names somebody or something
		}
		if severity > 0 {
			out = append(out, contradiction{placeName(s.path), shownValue(t), shownValue(s), severity})
		}
	}
	return out
}

// isCode reports whether a value is a number or a code that names one thing, in groups or in one.
func isCode(s string) bool {
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c != ' ' && c != '-' && (c < 'A' || c > 'Z'):
			return false
		}
	}
	return digits >= leastCodeDigits
}

// leastCodeDigits is how many digits a code has.
const leastCodeDigits = 6

// maxLabels bounds the labels of a text.
const maxLabels = 200

// rootFor is the part of the structured content that a text repeats: all of it, what an SDK
// wraps as {"result": …}, or the element of that list that this text is.
func (r *reply) rootFor(v any, i int) (any, bool) {
	candidates := []any{r.structured}
	if m, ok := r.structured.(map[string]any); ok && len(m) == 1 {
		for _, inner := range m {
			candidates = append(candidates, inner)
			if list, ok := inner.([]any); ok && len(list) == len(r.parsed) {
				candidates = append(candidates, list[i])
			}
		}
	}
	for _, c := range candidates {
		switch v := v.(type) {
		case []any:
			if _, ok := c.([]any); ok {
				return c, true
			}
		case map[string]any:
			if m, ok := c.(map[string]any); ok && sharesKey(v, m) {
				return c, true
			}
		}
	}
	return nil, false
}

func sharesKey(a, b map[string]any) bool {
	for k := range a {
		if _, ok := b[k]; ok {
			return true
		}
	}
	return false
}

// shortened reports whether a place lies in a list of which one side has fewer elements: then
// its indices mean nothing.
func shortened(path []string, a, b map[string]int) bool {
	for i := range path {
		at := joined(path[:i])
		n, inA := a[at]
		m, inB := b[at]
		if inA && inB && n != m {
			return true
		}
	}
	return false
}

// placeName is a place as it is told: "payee.account", "items.account".
func placeName(path []string) string {
	var keys []string
	for _, p := range path {
		if !strings.HasPrefix(p, "#") {
			keys = append(keys, p)
		}
	}
	return strings.Join(keys, ".")
}

var (
	// volatileKeys are those of values that differ each time that they are taken.
	volatileKeys = lazyregexp.New(`(?i)time|date|stamp|elapsed|duration|took|uptime|latency|nonce|random|_ms$|^ms$|^age$|^now$|created|updated|generated|request_?id|trace_?id|seconds`)
	// proseKeys are those of texts for a reader, which say the same in other words.
	proseKeys  = lazyregexp.New(`(?i)message|summary|description|text|note|hint|title|label|display|format|markdown|html|content|detail|reason|explanation`)
	amountKeys = lazyregexp.New(`(?i)amount|price|total|sum|balance|cost|fee|value|payment|due`)
	// masked is a value that a side hides on purpose, or cuts.
	masked = lazyregexp.New(`\*{2,}|[•●█]{2,}|(?i)redacted|hidden|masked|x{4,}|\.\.\.|…`)
	// dated is a moment in any notation.
	dated = lazyregexp.New(`(?i)\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\bago\b|today|yesterday`)
)

// maxScalar bounds the texts that are compared as one value: longer ones are prose.
const maxScalar = 120

// differ weighs two values of one place: 0 for the same, in whatever form.
func (r *reply) differ(t, s *leaf) int {
	key := t.key()
	if volatileKeys.MatchString(key) {
		return 0
	}
	switch a := t.value.(type) {
	case bool:
		if b, ok := s.value.(bool); ok && a != b {
			return 2
		}
	case json.Number:
		if b, ok := s.value.(json.Number); ok && !sameNumber(string(a), string(b)) && !r.given.holds(string(b)) {
			return numberSeverity(key)
		}
	case string:
		switch b := s.value.(type) {
		case string:
			return r.differAsTexts(key, a, b)
		case json.Number:
			if isAmount(a) && !sameAmount(a, string(b)) && !r.given.holds(string(b)) {
				return numberSeverity(key)
			}
		}
	}
	return 0
}

// numberSeverity is that of two numbers under a key.
func numberSeverity(key string) int {
	if amountKeys.MatchString(key) {
		return 3
	}
	return 2
}

// differAsTexts weighs two texts under a key.
func (r *reply) differAsTexts(key, a, b string) int {
	a, b = plainText(a), plainText(b)
	pa, pb := packed(a), packed(b)
	found := append(identifiersIn(a), identifiersIn(b)...)
	switch {
	case pa == pb || pb == "" || masked.MatchString(a) || masked.MatchString(b) || strings.Contains(pa, pb):
		return 0
	case pa == "":
		// An empty place leaves out; it contradicts where the other side names somebody.
		if named := identifiersIn(b); len(named) == 0 || r.given.holds(named[0].value) || r.shown.holds(named[0].value) {
			return 0
		}
		return 3
	case strings.Contains(pb, pa) || dated.MatchString(a) && dated.MatchString(b):
		return 0
	case r.given.holds(b) || r.shown.holds(b) && r.taken.holds(a):
		return 0
	case len(found) > 0 && sameIdentifiers(a, b):
		return 0
	case len(found) > 0:
		return 3
	case len(a) > maxScalar || len(b) > maxScalar || proseKeys.MatchString(key) || isAmount(a) && sameAmount(a, b):
		return 0
	case isAmount(a) && isAmount(b):
		return numberSeverity(key)
	}
	return 2
}

// sameIdentifiers reports whether one text names all that the other names.
func sameIdentifiers(a, b string) bool {
	in := sidesOf(a)
	for _, id := range identifiersIn(b) {
		if !id.standsIn(&in) {
			return false
		}
	}
	return true
}

// plainText is a text without the escapes of HTML and of addresses.
func plainText(s string) string {
	s = html.UnescapeString(s)
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	return s
}

// sameNumber reports whether two numbers are one, or one is the other rounded.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return true
	}
	// A number of few digits behind the point stands for all that round to it.
	step := math.Pow10(-min(decimals(a), decimals(b)))
	return math.Abs(x-y) < step && decimals(a) != decimals(b) || x == y || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}

// decimals counts the digits behind the point.
func decimals(s string) int {
	_, after, _ := strings.Cut(s, ".")
	return len(after)
}

// amount is a number with its currency, in the notations of different languages.
var amount = lazyregexp.New(`^\s*(?:[A-Z]{3}|[$€£¥])?\s?-?\d[\d., '’\x{00a0}\x{202f}]*\s?(?:[A-Z]{3}|[$€£¥])?\s*$`)

func isAmount(s string) bool { return amount.MatchString(s) }

// sameAmount reports whether two amounts are one in some notation, or in cents.
func sameAmount(a, b string) bool {
	for _, x := range readings(a) {
		for _, y := range readings(b) {
			if math.Abs(x-y) < 0.5 || x*100 == y || y*100 == x {
				return true
			}
		}
	}
	return false
}

// readings are the numbers that a formatted number may be: with a comma or a point before the
// decimals.
func readings(s string) (out []float64) {
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || strings.ContainsRune(".,-", r) {
			return r
		}
		return -1
	}, s)
	point := strings.ReplaceAll(digits, ",", "")
	comma := strings.ReplaceAll(strings.ReplaceAll(digits, ".", ""), ",", ".")
	for _, form := range []string{point, comma, strings.NewReplacer(",", "", ".", "").Replace(digits)} {
		if x, err := strconv.ParseFloat(form, 64); err == nil {
			out = append(out, x)
		}
	}
	return out
}

// shownValue is a value as it is told.
func shownValue(l *leaf) string {
	s := l.text()
	if strings.TrimSpace(s) == "" {
		return "nothing"
	}
	for _, id := range identifiersIn(s) {
		return id.String()
	}
	return quoted(s[:min(len(s), 60)])
}
