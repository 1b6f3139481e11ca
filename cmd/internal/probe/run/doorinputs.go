package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// maxInjected bounds the requests with attack inputs of one port. inPathEach is how many of an oracle's a part of a path
// gets: an absolute path is no way out there, as others are.
const maxInjected, inPathEach = 48, 3

// injected is a request that carries an oracle's input.
type injected struct {
	request
	in session.Injection
}

// slot is what a route reads: a part of its path, or a member of its query or body.
type slot struct {
	route  literals.Route
	name   string
	inPath bool
}

// slotsOf are what routes read, the parts of paths first.
func slotsOf(list []literals.Route) []slot {
	var out []slot
	for _, r := range list {
		for rest := r.Open; strings.Contains(rest, "{"); {
			_, after, _ := strings.Cut(rest, "{")
			name, behind, ok := strings.Cut(after, "}")
			if !ok {
				break
			}
			out, rest = append(out, slot{r, name, true}), behind
		}
		for _, name := range r.Params {
			out = append(out, slot{route: r, name: name})
		}
	}
	return out
}

// requestsWith are requests with the oracles' inputs in what routes read: each slot has its first input before any
// has the next. What a slot's name asks for is no attack: an address where the name says so, and a path outside of
// the route's own.
func requestsWith(list []literals.Route, w *oracle.World, token func(n int) string) []injected {
	slots := slotsOf(list)
	inputs := make([][]oracle.Input, len(slots))
	n := 0
	for i, s := range slots {
		meaning, each := oracle.MeaningOf(s.name), 1
		if s.inPath {
			each = inPathEach
		}
		for _, in := range oracle.Bare(w, meaning, each, func(int) string { n++; return token(n) }) {
			asked := in.Oracle == session.OracleFetch && meaning == oracle.Address || in.Oracle == session.OraclePath && meaning == oracle.Path && !s.inPath
			if !asked {
				inputs[i] = append(inputs[i], in)
			}
		}
	}
	var out []injected
	for round := 0; ; round++ {
		left := false
		for i, s := range slots {
			if round >= len(inputs[i]) {
				continue
			}
			left = true
			if len(out) < maxInjected {
				out = append(out, s.with(inputs[i][round]))
			}
		}
		if !left {
			return out
		}
	}
}

// with is the slot's request with an input in its place.
func (s *slot) with(in oracle.Input) injected {
	q := injected{request: request{method: s.route.Method, path: s.route.Path}, in: in.Injection}
	named := s.route.Open
	if named == "" {
		named = s.route.Path
	}
	place := fmt.Sprintf("%s %s: %s", s.route.Method, named, s.name)
	q.in.At = "/" + session.EscapePointer(place)
	if s.inPath {
		q.path = strings.Replace(s.route.Open, "{"+s.name+"}", url.PathEscape(in.Text), 1)
		for strings.Contains(q.path, "{") {
			before, after, _ := strings.Cut(q.path, "{")
			_, rest, _ := strings.Cut(after, "}")
			q.path = before + "1" + rest
		}
	}
	members := map[string]string{}
	for _, name := range s.route.Params {
		members[name] = "1"
	}
	if !s.inPath {
		members[s.name] = in.Text
	}
	if len(members) == 0 {
		return q
	}
	query := url.Values{}
	for name, v := range members {
		query.Set(name, v)
	}
	q.path += "?" + query.Encode() // sorted
	if s.route.Method != http.MethodGet && s.route.Method != http.MethodDelete {
		if body, err := json.Marshal(members); err == nil { // texts always are
			q.body = string(body)
		}
	}
	return q
}
