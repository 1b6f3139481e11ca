package answers

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// kind is what a value is used as.
type kind int

const (
	unknown kind = iota
	text
	number
	list
	object
)

// maxMembers bounds the members of one object, maxShapes the values of one answer.
const maxMembers, maxShapes = 60, 300

// shape is what is known of one value of an answer.
type shape struct {
	kind    kind
	members map[string]*shape
	element *shape
	// value is what the code compares it with before it goes on, as JSON.
	value json.RawMessage
	// runs is what stands for what the code runs of it, "" where it runs nothing.
	runs string
	left *int // shapes that may still be made
}

func newShape() *shape {
	left := maxShapes
	return &shape{left: &left}
}

func (s *shape) made() *shape {
	if *s.left <= 0 {
		return nil
	}
	*s.left--
	return &shape{left: s.left}
}

// member is the shape of a member, nil where there are too many.
func (s *shape) member(name string) *shape {
	if s == nil {
		return nil
	}
	if m := s.members[name]; m != nil {
		return m
	}
	if len(s.members) >= maxMembers {
		return nil
	}
	m := s.made()
	if m == nil {
		return nil
	}
	if s.members == nil {
		s.members = map[string]*shape{}
	}
	s.kind, s.members[name] = object, m
	return m
}

// of is the shape of a list's elements.
func (s *shape) of() *shape {
	if s == nil {
		return nil
	}
	if s.element == nil {
		if s.element = s.made(); s.element == nil {
			return nil
		}
	}
	if s.kind != object {
		s.kind = list
	}
	return s.element
}

// is notes a weaker guess: what was seen before stays.
func (s *shape) is(k kind) {
	if s != nil && s.kind == unknown {
		s.kind = k
	}
}

// empty says that nothing is known of the value.
func (s *shape) empty() bool { return s.kind == unknown && s.value == nil && s.runs == "" }

// faults are the members that an answer has when something went wrong.
var faults = map[string]bool{
	"error": true, "errors": true, "err": true, "fault": true, "exception": true, "error_message": true, "errormessage": true, "error_description": true,
	"error_code": true, "errorcode": true, "failure": true, "warnings": true, "detail": true,
}

// render is an example of the shape for a member's name.
func (s *shape) render(name string) any {
	switch {
	case s.value != nil:
		return s.value
	case s.runs != "":
		return s.runs
	case s.kind == list:
		one := s.element.renderElement(name)
		return []any{one, one}
	case s.kind == object:
		out := map[string]any{}
		for m, v := range s.members {
			if faults[strings.ToLower(m)] && len(s.members) > 1 {
				continue
			}
			out[m] = v.render(m)
		}
		return out
	case s.kind == number:
		return 12
	case s.kind == text:
		if v, ok := valueOf(name).(string); ok {
			return v
		}
		return "Autumn"
	}
	return valueOf(name)
}

func (s *shape) renderElement(name string) any {
	if s == nil || s.empty() {
		return valueOf(strings.TrimSuffix(name, "s"))
	}
	return s.render(strings.TrimSuffix(name, "s"))
}

// sampleID is an identifier that is a number, a word of hexadecimal digits, and of a common length.
const sampleID = "10240512"

// The values of members by their names: what their names' words promise.
var named = []struct {
	words *lazyregexp.Regexp
	value any
}{
	{lazyregexp.New(`^(next_?(page_?)?(token|cursor)|(next|end)_?cursor|continuation(_?token)?|page_?token|scroll_id)$`), sinkhole.Cursor},
	{lazyregexp.New(`^(has_?(more|next)(_?page)?|is_?truncated)$`), true},
	{lazyregexp.New(`^next(_?page)?$`), nil},
	{lazyregexp.New(`(^|_)(command|cmd|shell|script|exec|(pre|post)_?install)$`), sinkhole.PlantedLine},
	{lazyregexp.New(`(^|_)(is|has|can|enabled|active|success|ok|valid|public|available|verified|found)(_|$)|succeeded$`), true},
	{lazyregexp.New(`(^|_)(private|archived|deleted|disabled|draft|fork|expired|partial|truncated|timed_out)(_|$)`), false},
	{lazyregexp.New(`(^|_)(url|uri|link|href|website|homepage|location)$`), "https://www.example.com/items/1"},
	{lazyregexp.New(`(^|_)(email|mail)(_|$)`), "alex.morgan@example.com"},
	{lazyregexp.New(`(_at|^date|date$|time$|^time|timestamp|_on|^created|^updated|^modified|^published|deadline|^due)$`), "2026-01-12T08:00:00Z"},
	{lazyregexp.New(`(^|_)(count|total|size|number|num|page|pages|limit|offset|index|width|height|length|score|rank|stars|votes|points|age|year|price|amount|cost|volume|open|close|high|low|rate|value|lat|latitude|lon|lng|longitude|temp|temperature|humidity|pressure|speed|distance|duration|seconds|minutes|hours|percent|percentage|quantity|balance|version_number|elevation|population|expires_in|interval|elapsed)$`), 12},
	{lazyregexp.New(`(^|_)(ids)$`), []any{sampleID}},
	{lazyregexp.New(`(^|_)(items|results|data|entries|records|rows|hits|nodes|edges|features|documents|list|tags|labels|users|files|messages|issues|repos|articles|posts|events|products|children|choices|candidates|categories|keywords)$`), []any{}},
	{lazyregexp.New(`(^|_)(id|uuid|sha|hash|key)$`), sampleID},
	{lazyregexp.New(`(^|_)(token|secret)$`), "c2Vzc2lvbi0xMDI0"},
	{lazyregexp.New(`(^|_)(status|state)$`), "ok"},
	{lazyregexp.New(`(^|_)(name|title|label|login|username|author|owner|subject|headline)$`), "Autumn"},
	{lazyregexp.New(`(^|_)(country|country_code)$`), "GB"},
	{lazyregexp.New(`(^|_)(lang|language|locale)$`), "en"},
	{lazyregexp.New(`(^|_)(currency)$`), "EUR"},
	{lazyregexp.New(`(^|_)[a-z]{2,}[^aius_]s$`), []any{}}, // of many, as the plural says
}

var humps = lazyregexp.New(`([a-z0-9])([A-Z])`)

// valueOf is a value that fits a member's name: a sentence where the name says nothing.
func valueOf(name string) any {
	words := strings.ToLower(humps.ReplaceAllString(strings.ReplaceAll(name, "-", "_"), "${1}_$2"))
	for _, n := range named {
		if n.words.MatchString(words) {
			return n.value
		}
	}
	return "The second quarter looks steady."
}
