package synth

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// What is read of one result.
const (
	maxResultText = 256 << 10
	maxLearned    = 400
	maxWalk       = 24
	// maxSaid bounds what is kept of a refusal to compare it with the next.
	maxSaid = 200
)

// learn puts the names and ids of an answer into the dictionary, and of a call
// that succeeded also what it was given: what a tool created can be asked for.
// Random arguments and their echo teach nothing.
func (d *driver) learn(t *target, c Call, o Outcome, r client.Result) {
	l := learner{d: d, left: maxLearned}
	t.retry = nil
	switch c.Class {
	case schema.Valid.String(), schema.Boundary.String(), schema.Invalid.String(), ClassOracle, ClassReplay, ClassCancelled, ClassGuard, ClassLong, ClassRows:
		return
	}
	if o == OK && t.what == WhatTool {
		d.answered(c.Args)
		if t.rank <= middleRank {
			l.document(c.Args)
		}
	}
	if r.Err != nil {
		t.refused(&l, c.Args, r.Err.Message)
	}
	if len(r.Raw) == 0 || len(r.Raw) > maxResultText {
		return
	}
	var result struct {
		Content           []struct{ Text, URI string }
		StructuredContent json.RawMessage
	}
	if json.Unmarshal(r.Raw, &result) != nil {
		return
	}
	l.heard = d.heard
	if t.what == WhatTool {
		l.things = lastWord.FindString(toolSuffix.ReplaceAllString(t.name, ""))
	}
	if o == OK {
		l.document(result.StructuredContent)
	}
	for _, part := range result.Content {
		switch {
		case o != OK:
			t.refused(&l, c.Args, part.Text)
		case !l.document(json.RawMessage(part.Text)):
			l.prose(part.Text)
			d.keep(t, part.Text)
		}
		l.add("uri", part.URI)
	}
}

// refused takes in what a refusal says of the arguments: what the schema lacks, or what other
// arguments it would have taken.
func (t *target) refused(l *learner, args json.RawMessage, text string) {
	t.said = text[:min(len(text), maxSaid)]
	t.before, t.refusedWith = l.d.askedBefore(t, text), args
	l.forget(args, text)
	if t.infer(text) {
		t.schemaFrom = append(t.schemaFrom, l.d.n)
		return
	}
	text = wire.Prose(text)
	d := l.d
	ofTarget := func(correct func(*target, json.RawMessage, string) json.RawMessage) func(json.RawMessage, string) json.RawMessage {
		return func(args json.RawMessage, text string) json.RawMessage { return correct(t, args, text) }
	}
	handed := func(args json.RawMessage, _ string) json.RawMessage { return d.handedOn(t, args) }
	ownPattern := func(args json.RawMessage, _ string) json.RawMessage { return d.ownPatterns(t, args) }
	corrected := func(list ...func(json.RawMessage, string) json.RawMessage) bool {
		for _, correct := range list {
			if retry := correct(args, text); retry != nil && !t.wasGiven(retry) {
				t.retry, t.retryFrom = retry, d.n
				return true
			}
		}
		return false
	}
	if corrected(ofTarget(d.asLocal), ofTarget(d.otherAddress), l.closedRings, l.resized, ofTarget(d.exclusive), ofTarget(l.keyed), l.ofExtension, l.asPath, l.suggested,
		l.demands, l.asName, l.stated, l.counted) {
		return
	}
	if t.require(args, text) {
		t.schemaFrom = append(t.schemaFrom, d.n)
		return
	}
	optioned := func(args json.RawMessage, _ string) json.RawMessage { return d.optioned(t, args) }
	corrected(ownPattern, handed, ofTarget(d.asText), ofTarget(d.patterned), ofTarget(d.otherKind), optioned)
}

// wasGiven says that a target had these arguments before.
func (t *target) wasGiven(args json.RawMessage) bool {
	if t.gen != nil {
		if c, err := t.gen.Canonical(args); err == nil {
			args = c
		}
	}
	return slices.ContainsFunc(t.given, func(g json.RawMessage) bool { return bytes.Equal(g, args) })
}

// learner takes in one answer.
type learner struct {
	d    *driver
	left int
	// heard is told of every name and value as well, unless it is nil.
	heard func(name, value string)
	// things is what the tool lists or makes, the last word of its name, "" for none.
	things string
}

// document walks a JSON value; false if text is none.
func (l *learner) document(text json.RawMessage) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || (text[0] != '{' && text[0] != '[') {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return false
	}
	l.walk("", "", v, 0)
	return true
}

// walk remembers each scalar under its key, and under its parent's with it:
// the name among entities is an "entity name" too.
func (l *learner) walk(parent, name string, v any, depth int) {
	if depth > maxWalk || l.left <= 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		l.thing(name, v, keys)
		for _, k := range keys {
			l.walk(name, k, v[k], depth+1)
		}
	case []any:
		for _, item := range v {
			l.walk(parent, name, item, depth+1)
		}
	case string:
		l.named(parent, name, v)
	case json.Number:
		l.named(parent, name, v.String())
	}
}

// thing remembers by what others ask for an object: a tool that wants a "project" wants its name, where it has no id. An
// object that stands under no name of its own is what the tool lists or makes.
func (l *learner) thing(what string, object map[string]any, keys []string) {
	if what = l.whole(what); what == "" || slices.ContainsFunc(keys, func(k string) bool { return identifying[strings.ToLower(k)] }) {
		return
	}
	for _, k := range keys {
		if s, ok := object[k].(string); ok && naming[strings.ToLower(k)] {
			l.add(what, s)
			return
		}
	}
}

// whole is what the things are whose objects stand under a name.
func (l *learner) whole(name string) string {
	if name == "" || wrapping[strings.ToLower(name)] {
		return l.things
	}
	return name
}

// naming are the keys under which things have a name, and wrapping those under which any result stands.
var (
	naming   = map[string]bool{"name": true, "key": true, "slug": true, "handle": true}
	wrapping = map[string]bool{"result": true, "results": true, "data": true, "items": true, "value": true, "response": true, "output": true}
)

func (l *learner) named(parent, name, value string) {
	if name == "" {
		return
	}
	l.add(name, value)
	if parent = l.whole(parent); parent == "" {
		return
	}
	l.add(parent+" "+name, value)
	// A tool that wants a "device" wants its id.
	if identifying[strings.ToLower(name)] {
		l.add(parent, value)
	}
}

// identifying are the keys under which a thing is told from others of its kind.
var identifying = map[string]bool{"id": true, "uuid": true, "guid": true, "udid": true, "identifier": true}

var (
	uuidText = lazyregexp.New(`\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`)
	pairText = lazyregexp.New(`(?m)\b([A-Za-z][A-Za-z_ -]{1,24}?)\s*[:=]\s*["'` + "`" + `]?([A-Za-z0-9][\w./@+-]{0,79})`)
	// numberText is a number by which a thing is told, as in "PID 54" and "job #7".
	numberText = lazyregexp.New(`(?i)\b(pid|(?:[a-z][a-z_-]{1,24} )?(?:id|number)|job|task|process|session|request|ticket|issue|order|build|run|window|tab|page|row|entry|note|item)[ #:]{1,3}(\d{1,12})\b`)
	quoteText  = lazyregexp.New(`\b([A-Za-z][A-Za-z_-]{1,24})\s+["'` + "`" + `]([^"'` + "`" + `\n]{1,80})["'` + "`" + `]`)
)

var (
	lastWord = lazyregexp.New(`[A-Za-z][a-z]+$`)
	// toolSuffix says nothing of what a tool is about.
	toolSuffix = lazyregexp.New(`(?i)[ _.-]?tools?$`)
	// lineFile is a file's name that a line begins with, alone or before what is said of it.
	lineFile = lazyregexp.New(`(?m)^(?:[-*•|] ?)?([\w./-]{1,80}\.[A-Za-z]\w{1,6})(?:$|:\d+\b|[ ]{2,}|\t| [|–—-] |: |, )`)
	// hashLine begins with the short name of a commit, as git writes lists of them.
	hashLine = lazyregexp.New(`(?m)^[*|\\/ ]{0,12}([0-9a-f]{7,40})\b`)
	// firstColumn is an identifier, or a file, that begins a line of a table.
	firstColumn = lazyregexp.New(`(?m)^(?:[-*•|] ?)?([0-9a-f]{7,40}|\d{1,20}|[a-z]{1,6}-[0-9a-z]{4,40}|[\w./-]{1,80}\.[A-Za-z]\w{0,7})(?:[ ]{2,}|\t| [|–—-] |: |, )`)
)

// prose finds ids and named values in running text.
func (l *learner) prose(text string) {
	const most = 64 << 10
	if len(text) > most {
		text = text[:most]
	}
	for _, id := range uuidText.FindAllString(text, 20) {
		l.add("id", id)
	}
	for _, m := range lineFile.FindAllStringSubmatch(text, 20) {
		l.add("file", m[1])
		if stem, isNote := strings.CutSuffix(path.Base(m[1]), ".md"); isNote {
			l.add("note", stem)
			l.add("page", stem)
		}
	}
	for _, m := range firstColumn.FindAllStringSubmatch(text, 20) {
		if !strings.Contains(m[1], ".") {
			l.add("id", m[1])
		}
		if l.things != "" {
			l.add(l.things, m[1])
			l.add(l.things+" id", m[1])
		}
	}
	for _, m := range hashLine.FindAllStringSubmatch(text, 20) {
		for _, name := range []string{"id", "hash", "commit", "sha", "ref", "revision"} {
			l.add(name, m[1])
		}
	}
	for _, re := range []*lazyregexp.Regexp{pairText, quoteText, numberText} {
		for _, m := range re.FindAllStringSubmatch(text, 60) {
			l.add(m[1], m[2])
		}
	}
}

var demandText = lazyregexp.New(`(?i)\b(?:must be|one of|expected|(?:valid|allowed|available|supported|possible|known|accepted) [a-z]{2,20}s(?: are)?|available:|options:|choose from|did you mean:?|there (?:are|is)(?: only)?:|known:|` +
	`[;,(–—] ?(?:the|it|this|that) (?:[a-z]\w{1,20} )?(?:has|have|knows|contains|offers|lists|defines)(?: only)?)` +
	`(?: either| one of)?[:\s]+([^\n]{1,200})`)

// demands reads a refusal that names what it would have taken, as in "Invalid
// kind: x. Must be Text or Blob.", for the argument that it speaks of, and
// returns the arguments corrected; nil if it says nothing of the sort.
func (l *learner) demands(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	list := listedUnder(given, text)
	if m := demandText.FindStringSubmatch(text); m != nil {
		list = m[1]
	}
	values := demanded(list)
	corrected := false
	for _, name := range spokenOf(given, text) {
		old := given[name]
		if len(values) == 0 {
			break
		}
		for _, v := range values {
			l.add(name, v)
		}
		if l.d.harmless(values[0]) {
			given[name] = likeOld(old, values[0])
			corrected = true
		}
	}
	if !corrected && len(values) > 0 && l.d.harmless(values[0]) && unknownText.MatchString(text) {
		corrected = inPart(given, text, values[0])
	}
	return arguments(given, corrected)
}

// listedUnder is what a refusal lists under an argument's own name, as in "sheets: January, February" for "sheet".
func listedUnder(given map[string]json.RawMessage, text string) string {
	lowered := strings.ToLower(text)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, rest, found := strings.Cut(lowered, strings.ToLower(name)+"s: "); found && len(name) > 2 {
			rest, _, _ = strings.Cut(text[len(text)-len(rest):], "\n")
			return rest
		}
	}
	return ""
}

// inPart puts what is known into arguments of which a refusal quotes a part that is not, as in "Sheet 'Data' not
// found" for "Data!A1:B2". It reports whether there is one.
func inPart(given map[string]json.RawMessage, text, known string) (found bool) {
	for _, q := range inQuotes.FindAllStringSubmatch(text, maxQuoted) {
		for name, old := range given {
			var value string
			if json.Unmarshal(old, &value) == nil && len(q[1]) > 1 && value != q[1] && q[1] != known && strings.HasPrefix(value, q[1]) {
				given[name], found = likeOld(old, known+strings.TrimPrefix(value, q[1])), true
			}
		}
	}
	return found
}

// maxQuoted bounds the quotations of one refusal.
const maxQuoted = 8

// spokenOf are the arguments of which a refusal speaks: where it quotes a value that
// several have, those of them that it names.
func spokenOf(given map[string]json.RawMessage, text string) []string {
	var out, named []string
	for name, old := range given {
		if !speaksOf(text, name, old) {
			continue
		}
		out = append(out, name)
		if wordIn(text, name) {
			named = append(named, name)
		}
	}
	if len(named) > 0 {
		out = named
	}
	sort.Strings(out)
	return out
}

// speaksOf says that a refusal names an argument, or quotes what it was given.
func speaksOf(text, name string, given json.RawMessage) bool {
	var value string
	quoted := json.Unmarshal(given, &value) == nil && len(value) > 1 && strings.Contains(text, value)
	return quoted || strings.Contains(text, name)
}

// maxDemanded bounds the values that one refusal names.
const maxDemanded = 16

// describing begins what a refusal says of a value, where it names none.
var describing = lazyregexp.New(`(?i)^(?:no|not|an?|the|to|been|only|nothing|too) `)

// properties are adjectives by which a refusal describes a value: no call gets them.
var properties = lazyregexp.New(`(?i)^(?:absolute|relative|positive|negative|non-?(?:empty|negative|zero)|empty|unique|different|equal|greater|less|smaller|larger|longer|shorter|valid|set|given|provided|specified|present|non-null|null|defined|e\.g|i\.e|for example|such as)\b`)

// demanded splits "Text or Blob" or "'a' | 'b'"; a number that is asked for is 1. Where values are in quotes, the other
// words speak of them.
func demanded(list string) []string {
	if quoted := inQuotes.FindAllStringSubmatch(list, maxDemanded); len(quoted) > 0 && properties.MatchString(strings.TrimSpace(list)) {
		var out []string
		for _, q := range quoted {
			if v := strings.TrimSpace(q[1]); v != "" && len(v) <= 40 {
				out = append(out, v)
			}
		}
		return out
	}
	list, _, _ = strings.Cut(list, ". ")
	lowered := strings.ToLower(list)
	if strings.Contains(lowered, "integer") || strings.Contains(lowered, "number") {
		return []string{"1"}
	}
	var out []string
	for _, v := range strings.FieldsFunc(strings.NewReplacer(" or ", ",", " and ", ",").Replace(list), func(r rune) bool {
		return strings.ContainsRune(",|/[](){}'\"`", r)
	}) {
		if v = strings.Trim(v, " .?"); v != "" && !describing.MatchString(v) && !properties.MatchString(v) && !strings.EqualFold(v, "none") && len(v) <= 40 && strings.Count(v, " ") <= 1 && len(out) < maxDemanded {
			out = append(out, v)
		}
	}
	return out
}

// likeOld writes v as JSON of the type that the refused value had.
func likeOld(old json.RawMessage, v string) json.RawMessage {
	if len(old) > 0 && old[0] != '"' && json.Valid([]byte(v)) {
		return json.RawMessage(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return old
	}
	return b
}

// add remembers a value unless it could lead a later call astray: a server
// must not be able to hand over a path or an address of its own choosing.
func (l *learner) add(name, value string) {
	if l.left <= 0 || name == "" || l.d.unknown[value] || !l.d.harmless(value) {
		return
	}
	l.left--
	if l.heard != nil {
		l.heard(name, value)
	}
	l.d.taught(value)
	l.d.cfg.Hints.Dictionary.Add(name, value)
}

// harmless refuses paths outside what was planted, and addresses on the web.
func (d *driver) harmless(v string) bool {
	if v == "" || strings.HasPrefix(v, "~") || strings.ContainsAny(v, "\x00$`;|&\\") {
		return false
	}
	if u, err := url.Parse(v); err == nil && u.Scheme != "" {
		switch strings.ToLower(u.Scheme) {
		case "http", "https", "ftp", "ws", "wss", "ssh", "git", "data", "javascript":
			return false
		case "file":
			return d.planted(u.Path)
		}
		return true
	}
	if strings.HasPrefix(v, "/") {
		return d.planted(v)
	}
	return !strings.Contains(v, "..")
}

// planted says that a path lies in a directory of the hints.
func (d *driver) planted(p string) bool {
	clean := path.Clean(p)
	for _, dir := range append([]string{d.cfg.Hints.Repo}, d.cfg.Hints.Dirs...) {
		if dir != "" && dir != "/" && (clean == dir || strings.HasPrefix(clean, strings.TrimSuffix(dir, "/")+"/")) {
			return true
		}
	}
	return false
}
