package sinkhole

import (
	"encoding/json"
	"regexp"
	"strings"
)

// maxGraphQL bounds a query in bytes, maxSelections the members of its answer and
// maxNesting their depth.
const maxGraphQL, maxSelections, maxNesting = 64 << 10, 500, 12

// graphQL answers a GraphQL request (specification, sections 2 and 7.1): every member
// that its query selects is there. It reports false for what is no such request.
func graphQL(body []byte) (string, bool) {
	var request struct {
		Query string `json:"query"`
	}
	if len(body) > maxGraphQL || json.Unmarshal(body, &request) != nil || !strings.Contains(request.Query, "{") {
		return "", false
	}
	q := selections{words: graphQLWords.FindAllString(request.Query, 4*maxSelections)}
	for q.at < len(q.words) && q.words[q.at] != "{" {
		if q.words[q.at] == "(" {
			q.skip()
			continue
		}
		q.at++
	}
	q.at++
	data := q.set(0)
	if len(data) == 0 {
		return "", false
	}
	out, err := json.Marshal(map[string]any{"data": data})
	return string(out), err == nil
}

// graphQLWords are the tokens that matter here; strings are one, so that what stands in
// them is none. Comments go with their line.
var graphQLWords = regexp.MustCompile(`"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*|\.\.\.|[{}()\[\]:@$!]|[A-Za-z_]\w*|[^\s{}()\[\]:@$!"#.]+`)

// selections reads the selection sets of one query.
type selections struct {
	words []string
	at, n int
}

func (q *selections) next() string {
	if q.at >= len(q.words) {
		return "}"
	}
	return q.words[q.at]
}

// skip goes behind the parenthesis that opens here.
func (q *selections) skip() {
	for depth := 0; q.at < len(q.words); {
		switch q.words[q.at] {
		case "(":
			depth++
		case ")":
			depth--
		}
		if q.at++; depth == 0 {
			return
		}
	}
}

// set reads a selection set up to its end.
func (q *selections) set(depth int) map[string]any {
	out := map[string]any{}
	for q.at < len(q.words) && q.next() != "}" {
		word := q.words[q.at]
		q.at++
		switch {
		case word == "...":
			q.fragment(out, depth)
			continue
		case word[0] == '#', word == "@", !nameStart(word[0]):
			continue
		}
		name := word
		if q.next() == ":" { // the word before it is an alias
			if q.at++; q.at < len(q.words) {
				name = q.words[q.at]
				q.at++
			}
		}
		if q.next() == "(" {
			q.skip()
		}
		for q.next() == "@" {
			if q.at += 2; q.next() == "(" {
				q.skip()
			}
		}
		if q.n++; q.n > maxSelections {
			return out
		}
		out[word] = q.value(name, depth)
	}
	q.at++
	return out
}

// fragment reads what stands in the place of members: those of an inline fragment join.
func (q *selections) fragment(out map[string]any, depth int) {
	for q.at < len(q.words) && q.next() != "{" {
		word := q.next()
		if word == "}" || nameStart(word[0]) && word != "on" && q.at > 0 && q.words[q.at-1] == "..." {
			if word != "}" {
				q.at++ // a fragment that is defined elsewhere
			}
			return
		}
		q.at++
	}
	if q.next() == "{" && depth < maxNesting {
		q.at++
		for k, v := range q.set(depth + 1) {
			out[k] = v
		}
	}
}

func nameStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// value is a member's: an object, a list of one, or a scalar that fits its name.
func (q *selections) value(name string, depth int) any {
	if q.next() != "{" {
		return scalar(name)
	}
	if depth >= maxNesting {
		q.at = len(q.words)
		return nil
	}
	q.at++
	one := q.set(depth + 1)
	_, connection := one["nodes"]
	if _, edges := one["edges"]; edges || connection {
		return one
	}
	switch lower := strings.ToLower(name); {
	case lower == "nodes", lower == "edges", lower == "items", lower == "results":
		return []any{one}
	case strings.HasSuffix(lower, "s") && !strings.HasSuffix(lower, "ss") && !strings.HasSuffix(lower, "status"):
		return []any{one}
	}
	return one
}

// scalar is a value that fits a member's name.
func scalar(name string) any {
	lower := strings.ToLower(name)
	ends := func(words ...string) bool {
		for _, w := range words {
			if strings.HasSuffix(lower, w) {
				return true
			}
		}
		return false
	}
	switch {
	case ends("endcursor", "startcursor", "cursor"):
		return Cursor
	case strings.HasPrefix(lower, "is"), strings.HasPrefix(lower, "has"), ends("success", "enabled"):
		return ends("success", "enabled")
	case ends("count", "number", "total", "amount", "price", "size", "points", "score"):
		return 12
	case ends("url", "uri", "link"):
		return "https://www.example.com/items/1"
	case ends("at", "date", "time"):
		return "2026-01-12T08:00:00Z"
	case ends("id"):
		return "1024"
	case ends("email"):
		return "alex.morgan@example.com"
	}
	return "Autumn"
}
