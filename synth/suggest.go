package synth

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

var (
	// suchAs is what a refusal gives as an example.
	suchAs = lazyregexp.New(`(?i)(?:such as|e\.g\.,?|for example,?:?|examples?:|like|format:?|notation:?)\s+((?:['"` + "`" + `][^'"` + "`" + `\n]{1,60}['"` + "`" + `](?:,? (?:or|and) |, )?){1,6})`)
	// bareExample is such an example without quotation marks, to the end of the clause.
	bareExample = lazyregexp.New(`(?i)(?:such as|e\.g\.,?|for example,?:?|examples?:|format:|notation:|expected:)\s+([^\s'"` + "`" + `;\n][^'"` + "`" + `;\n]{1,78}[^\s'"` + "`" + `;\n,.)\]])[,.)\]]?(?:\s*$|[;\n]|\. )`)
	inQuotes    = lazyregexp.New("['\"`]([^'\"`\n]{1,60})['\"`]")
	// byPattern is an expression that a value is to match.
	byPattern = lazyregexp.New(`(?i)(?:match(?:es)?(?: the)?(?: regex| pattern| regular expression)?|pattern|regex)[: ]+['"/` + "`" + `]?(\^[^\n]{1,120}?\$)`)
	// beginsWith is what a value is to begin with.
	beginsWith = lazyregexp.New(`(?i)(?:must |should |has to )?(?:start|begin)s?(?:ing)? with ['"` + "`" + `]?([\w:/.@#-]{1,24})`)
	// endsWith is what a value is to end with.
	endsWith = lazyregexp.New(`(?i)\b(?:ends?|ending) (?:in|with) ['"` + "`" + `]?(\.[\w.]{1,16})`)
	// plainText is a refusal of the characters of a name.
	plainText = lazyregexp.New(`(?i)\bonly (?:contain |use |have |include )?(?:ascii )?(?:letters|alphanumeric)\b|\bmust be alphanumeric\b|` +
		`\b(?:start|begin)s?(?:ing)? with an? (?:ascii |lowercase )?(?:letter|alphabetic)|` +
		`\b(?:can ?not|can't|must not|may not|should not|without) (?:include |contain |have |use )?(?:any )?(?:a )?(?:spaces?|white ?space|special|hyphens?|dash(?:es)?|punctuation)\b|` +
		`\b(?:not a |in)valid (?:[a-z]+ )?identifier\b|\b(?:illegal|special|disallowed|forbidden|unsupported) characters?\b`)
	// asksURL is a refusal of what is no URL.
	asksURL    = lazyregexp.New(`(?i)\b(?:(?:start|begin)s?(?:ing)? with ['"` + "`" + `]?https?:|(?:in)?valid ?ur[li]|malformed ur[li]|absolute ur[li]|(?:unknown|unsupported) url)`)
	lacksText  = lazyregexp.New(`(?i)\b(?:required|missing|must (?:be )?(?:provided?|specif(?:y|ied)|given|set)|provide|specify|give|pass|supply|needs?|either|at least one|undefined)\b`)
	absentText = lazyregexp.New(`(?i)does(?: not|n't) exist|not found|no such (?:file|directory)|cannot (?:find|open)|ENOENT`)
	thereText  = lazyregexp.New(`(?i)already exists|EEXIST`)
	// formats are what a refusal asks for in words, and a value of that kind.
	formats = []struct {
		said  *lazyregexp.Regexp
		value string
	}{
		{lazyregexp.New(`(?i)YYYY-MM-DD[T ]HH|ISO[- ]?8601|RFC[- ]?3339`), "2026-03-14T09:30:00Z"},
		{lazyregexp.New(`(?i)YYYY-MM-DD`), "2026-03-14"},
		{lazyregexp.New(`(?i)HH:MM`), "09:30"},
		{lazyregexp.New(`(?i)\b(?:valid )?(?:uuid|guid)\b`), "3f2b8c1e-6d4a-4f7b-9a53-1c2d3e4f5a6b"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:e-?mail|mail address)`), "alex@example.com"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:phone|telephone|mobile) ?(?:number)?`), "+4930123456"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:host ?name|domain)(?: name)?`), "www.example.com"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:url|uri|web address|link)\b`), "https://www.example.com/"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:time ?zone)`), "Europe/Berlin"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:mac address)`), "00:11:22:33:44:55"},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:semantic version|semver|version number)`), "1.2.3"},
		{lazyregexp.New(`(?i)(?:valid|well-formed) json|json\.?parse|unexpected token .* (?:in|is not valid) json|expecting value|invalid character .{1,12} (?:looking for|after)`), `{"name":"report"}`},
		{lazyregexp.New(`(?i)(?:valid|no|not an?|like an?|must be an?|bad) (?:ip|ipv4)\b`), "192.0.2.10"},
		{lazyregexp.New(`(?i)valid hex(?:adecimal)? colou?r`), "#3366cc"},
		{lazyregexp.New(`(?i)a1 notation`), "A1:B3"},
		{lazyregexp.New(`(?i)needed a single revision|(?:unknown|bad|ambiguous|invalid) (?:revision|argument '[^']*': unknown revision)|not a valid (?:object|commit|branch) ?(?:name)?|did not match any files? known to git`), "HEAD~1"},
	}
)

// plainExample is an example that a refusal gives without quotation marks, "" for none. It stands for itself,
// and is no description, if it has digits or signs that prose has not.
func plainExample(said string) string {
	m := bareExample.FindStringSubmatch(said)
	if m == nil {
		return ""
	}
	example, _, _ := strings.Cut(m[1], ", ")
	if !strings.ContainsAny(example, "0123456789:/@#_<>{}=+*") {
		return ""
	}
	return example
}

// suggested corrects the arguments of a refusal by what it says of them: an example, a
// format, a pattern, a beginning, or that a file is there or is not. nil is for nothing said.
func (l *learner) suggested(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	corrected := false
	for _, name := range about(given, text) {
		var value string
		if json.Unmarshal(given[name], &value) != nil {
			continue
		}
		next := l.better(value, text)
		if next == "" || next == value {
			continue
		}
		given[name], corrected = likeOld(given[name], next), true
	}
	return arguments(given, corrected)
}

// about are the arguments that a refusal speaks of: those whose value it quotes, of which
// it may name some, else those that it names, else the only text.
func about(given map[string]json.RawMessage, text string) []string {
	var quoted, named, texts []string
	for name, raw := range given {
		var value string
		if json.Unmarshal(raw, &value) != nil {
			continue
		}
		texts = append(texts, name)
		if len(value) > 1 && strings.Contains(text, value) {
			quoted = append(quoted, name)
		}
		if len(name) > 1 && wordIn(text, name) {
			named = append(named, name)
		}
	}
	both := slices.DeleteFunc(slices.Clone(quoted), func(name string) bool { return !slices.Contains(named, name) })
	out := texts
	switch {
	case len(both) > 0:
		out = both
	case len(quoted) > 0:
		out = quoted
	case len(named) > 0:
		out = named
	case len(texts) > 1:
		return nil
	}
	slices.Sort(out)
	return out
}

// wordIn says that a text has a name that is no part of a longer word.
func wordIn(text, name string) bool {
	return len(name) <= len(text) && nextWord(strings.ToLower(text), strings.ToLower(name), 0) >= 0
}

// nextWord is where a text has a word that is no part of a longer one, from a place on; negative where it has not.
func nextWord(text, word string, at int) int {
	for word != "" && at < len(text) {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		i += at
		end := i + len(word)
		if (i == 0 || !ofWord(text[i-1])) && (end == len(text) || !ofWord(text[end])) {
			return i
		}
		at = i + 1
	}
	return -1
}

func ofWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// better is the value that a refusal suggests in place of one, "" for none.
func (l *learner) better(value, text string) string {
	said := strings.ReplaceAll(text, value, "")
	if strings.HasPrefix(value, "/") {
		return l.otherPath(value, said)
	}
	if thereText.MatchString(said) && !strings.Contains(value, " ") {
		return strings.TrimSuffix(value, path.Ext(value)) + "-new" + path.Ext(value)
	}
	if m := suchAs.FindStringSubmatch(said); m != nil {
		for _, q := range inQuotes.FindAllStringSubmatch(m[1], 6) {
			if q[1] != value && l.d.harmless(q[1]) {
				return q[1]
			}
		}
	}
	if e := plainExample(said); e != value && l.d.harmless(e) {
		return e
	}
	if m := byPattern.FindStringSubmatch(said); m != nil {
		if s := l.d.matching(m[1]); l.d.harmless(s) {
			return s
		}
	}
	for _, f := range formats {
		if f.said.MatchString(said) {
			return f.value
		}
	}
	if u := l.d.cfg.Hints.URL; asksURL.MatchString(said) {
		if u == "" {
			u = "https://www.example.com/"
		}
		return u
	}
	if plainText.MatchString(said) {
		return identifierOf(value)
	}
	if m := beginsWith.FindStringSubmatch(said); m != nil && m[1] != "a" && m[1] != "an" && m[1] != "the" && !strings.HasPrefix(value, m[1]) {
		if next := strings.TrimRight(m[1], ".") + value; l.d.harmless(next) {
			return next
		}
	}
	if m := endsWith.FindStringSubmatch(said); m != nil {
		if end := strings.TrimRight(m[1], "."); !strings.HasSuffix(value, end) {
			stem := strings.TrimSuffix(value, path.Ext(value))
			if strings.ContainsAny(stem, " \t\n") {
				stem = identifierOf(stem)
			}
			return stem + end
		}
	}
	return ""
}

// identifierOf is a name in the characters that every grammar takes: letters, digits and underscores,
// a letter first.
func identifierOf(value string) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && ofWord(byte(r)) {
			return r
		}
		return '_'
	}, value)
	if first := name[:min(len(name), 1)]; first == "" || first[0]|0x20 < 'a' || first[0]|0x20 > 'z' {
		name = "n" + name
	}
	return name
}

// matching is a text that an expression matches, "" where none was found.
func (d *driver) matching(expression string) string {
	var drawn string
	if raw := d.drawOne(map[string]any{"type": "string", "pattern": expression}, "v", schema.Options{Object: true}); raw == nil || json.Unmarshal(raw, &drawn) != nil {
		return ""
	}
	return drawn
}

// drawOne is a typical value of a property by its schema, nil for none.
func (d *driver) drawOne(property any, name string, o schema.Options) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"type": "object", "required": []string{name}, "properties": map[string]any{name: property}})
	if err != nil {
		return nil
	}
	gen, err := schema.New(raw, o)
	if err != nil {
		return nil
	}
	args, err := gen.Draw(d.cfg.Seed, schema.TypicalRequired)
	var drawn map[string]json.RawMessage
	if err != nil || json.Unmarshal(args, &drawn) != nil {
		return nil
	}
	return drawn[name]
}

// otherPath is another path for one of which a refusal says that nothing is there, that
// something is, or that it is of the wrong sort. It stays within what is planted.
func (l *learner) otherPath(value, said string) string {
	h := &l.d.cfg.Hints
	lowered := strings.ToLower(said)
	all := slices.Concat(h.Documents, h.Images, h.Files)
	switch {
	case strings.Contains(lowered, "git repo") && h.Repo != "":
		return h.Repo
	case strings.Contains(lowered, "not a directory") || strings.Contains(lowered, "enotdir"):
		return first(h.Dirs)
	case strings.Contains(lowered, "is a directory") || strings.Contains(lowered, "not a file") || strings.Contains(lowered, "eisdir"):
		return first(h.Files)
	case thereText.MatchString(said):
		return strings.TrimSuffix(value, path.Ext(value)) + "-new" + path.Ext(value)
	case absentText.MatchString(said) && !slices.Contains(all, value):
		if i := slices.IndexFunc(all, func(f string) bool { return path.Ext(f) == path.Ext(value) }); i >= 0 {
			return all[i]
		}
		if path.Ext(value) == "" {
			return first(h.Dirs)
		}
	}
	return l.inNamed(value, said)
}

// absolute is a path in a refusal.
var absolute = lazyregexp.New(`/[\w./-]{2,200}`)

// inNamed is a planted file in a directory that a refusal names, as in "is not inside /home/sam/Pictures": of the
// types of which it speaks, if there is one.
func (l *learner) inNamed(value, said string) string {
	h := &l.d.cfg.Hints
	for _, dir := range absolute.FindAllString(said, maxQuoted) {
		dir = strings.TrimRight(dir, "./")
		below := func(f string) bool { return f != value && strings.HasPrefix(f, dir+"/") }
		fitting := append(h.OfType(schema.Words(strings.ReplaceAll(said, dir, ""))), slices.Concat(h.Documents, h.Images, h.Files)...)
		if i := slices.IndexFunc(fitting, below); i >= 0 && !strings.HasPrefix(value, dir+"/") {
			return fitting[i]
		}
	}
	return ""
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// alternatives parts a refusal that names what may be given in place of one another.
var alternatives = lazyregexp.New(`(?i)\bor\b`)

// require makes optional properties that a refusal names as missing required, and reports
// whether there are any. Of alternatives it takes the first of which something is missing, and the
// next call has what is required alone: what it has beside may belong to another.
func (t *target) require(args json.RawMessage, text string) bool {
	if t.what != WhatTool || len(text) > 4096 || !lacksText.MatchString(text) {
		return false
	}
	doc := t.inferred
	if doc == nil && json.Unmarshal(t.decl.InputSchema, &doc) != nil || doc == nil {
		return false
	}
	var given map[string]json.RawMessage
	_ = json.Unmarshal(args, &given) // what is no object gives nothing
	for _, part := range alternatives.Split(text, maxAlternatives) {
		if t.demandsOf(doc, given, part) || t.demandsWithin(doc, given, part) {
			t.inferred, t.gen, t.reached, t.lean = doc, nil, nil, true
			return true
		}
	}
	return false
}

// demandsOf makes the properties of an object required that a text names and that were not given, and reports whether
// there are any.
func (t *target) demandsOf(object map[string]any, given map[string]json.RawMessage, text string) bool {
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	var names []string
	for name := range properties {
		_, there := given[name]
		if !there && len(name) > 1 && wordIn(text, name) && !slices.Contains(required, any(name)) && t.additions < maxInferred {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t.additions++
		required = append(required, name)
	}
	if len(names) > 0 {
		object["required"] = required
	}
	return len(names) > 0
}

// demandsWithin is demandsOf for the arguments that are objects; such a one becomes required as well.
func (t *target) demandsWithin(doc map[string]any, given map[string]json.RawMessage, text string) bool {
	properties, _ := doc["properties"].(map[string]any)
	required, _ := doc["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		inner, _ := properties[name].(map[string]any)
		var object map[string]json.RawMessage
		if inner == nil || json.Unmarshal(given[name], &object) != nil || object == nil || !t.demandsOf(inner, object, text) {
			continue
		}
		if !slices.Contains(required, any(name)) {
			doc["required"] = append(required, name)
		}
		return true
	}
	return false
}

// maxAlternatives bounds the parts of one refusal.
const maxAlternatives = 16
