package sinkhole

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Cursor is the value by which a served answer names the next page of a list: who sends it
// back gets the last page.
const Cursor = "cGFnZT0y"

// Fit is a JSON answer with the members that a client's code reads, or that the description
// of an API promises.
type Fit struct {
	// Words are pieces of the addresses that this code asks, the nearest last. Without any
	// the answer is for addresses that fit no other.
	Words []string `json:"words,omitempty"`
	// Template is the end of the path that stands nearest to the code, with "{}" for what is put in. Where a
	// request's path ends so, it decides before the words do.
	Template string `json:"template,omitempty"`
	// Path is a path that is described, with "{name}" for what differs, and Method its method.
	// What stands before it in an address is not known. Fits with a path have no words.
	Path   string `json:"path,omitempty"`
	Method string `json:"method,omitempty"`
	// Status is that of the answer to a described path.
	Status int    `json:"status,omitempty"`
	Body   string `json:"body"`
}

// described is the answer whose path is the end of the request's: that with the most segments, and of
// those the one with the most that are written out.
func described(fits []Fit, r *http.Request) (Fit, bool) {
	return closest(fits, r.URL.Path, func(f *Fit) string {
		if f.Method != r.Method {
			return ""
		}
		return f.Path
	})
}

// closest is the answer whose path ends the one that is asked, and has most of it. An answer without a path is none.
func closest(fits []Fit, asked string, pathOf func(*Fit) string) (best Fit, found bool) {
	segments := func(p string) []string { return strings.Split(strings.Trim(p, "/"), "/") }
	parts, rank := segments(asked), 0
	for i := range fits {
		p := pathOf(&fits[i])
		if p == "" {
			continue
		}
		if n := matching(segments(p), parts); n > rank {
			best, found, rank = fits[i], true, n
		}
	}
	return best, found
}

// matching ranks how well a described path is the end of one that is asked, 0 for not at all. A path
// of which nothing is written out is that of no API alone.
func matching(template, asked []string) int {
	if len(template) > len(asked) {
		return 0
	}
	literal := 0
	for i, segment := range asked[len(asked)-len(template):] {
		before, rest, variable := strings.Cut(template[i], "{")
		behind := rest[strings.LastIndexByte(rest, '}')+1:]
		switch {
		case !variable && segment != template[i], segment == "",
			variable && (len(segment) <= len(before)+len(behind) || !strings.HasPrefix(segment, before) || !strings.HasSuffix(segment, behind)):
			return 0
		case !variable:
			literal++
		}
	}
	if literal == 0 {
		return 0
	}
	return 1000*len(template) + literal
}

// fitting is the answer whose template fits, or else the one with the longest piece in the address; of
// several that which names it nearest to its code. It says whether any fits, or any piece is in it.
func fitting(fits []Fit, r *http.Request, host string) (body string, named bool) {
	if f, found := closest(fits, r.URL.EscapedPath(), func(f *Fit) string { return f.Template }); found {
		return f.Body, true
	}
	address := host + r.URL.Path
	longest, nearest := 0, 0
	for _, f := range fits {
		if len(f.Words) == 0 && f.Path == "" && body == "" {
			body = f.Body
		}
		for i, w := range f.Words {
			w, distance := strings.TrimSuffix(w, "/"), len(f.Words)-i
			if n := len(w); strings.Contains(address, w) && (n > longest || n == longest && distance < nearest) {
				longest, nearest, body = n, distance, f.Body
			}
		}
	}
	return body, longest > 0
}

// joined is a JSON object with the members of another that it lacks; where one is no
// object it stays as it is.
func joined(body, more string) string {
	var a, b map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &a) != nil || json.Unmarshal([]byte(more), &b) != nil || a == nil {
		return body
	}
	maps.DeleteFunc(b, func(name string, _ json.RawMessage) bool { _, have := a[name]; return have })
	if len(b) == 0 {
		return body
	}
	maps.Copy(a, b)
	out, err := json.Marshal(a)
	if err != nil {
		return body
	}
	return string(out)
}

// pageNames are parameters that count pages from 1, and startNames those that count
// what is skipped.
var (
	pageNames  = []string{"page", "p", "pagenumber", "page_number", "pageno", "page[number]"}
	startNames = []string{"offset", "skip", "start", "startat", "startindex", "from"}
)

// asksLater reports whether a request asks for another page of a list than the first.
func asksLater(r *http.Request, body []byte) bool {
	if bytes.Contains(body, []byte(Cursor)) {
		return true
	}
	for name, values := range r.URL.Query() {
		name, value := strings.ToLower(name), values[0]
		n, err := strconv.Atoi(value)
		if value == Cursor || err == nil && (n > 1 && slices.Contains(pageNames, name) || n > 0 && slices.Contains(startNames, name)) {
			return true
		}
	}
	return false
}

// more are members that say that there is another page.
var more = regexp.MustCompile(`(?i)^(has_?(more|next).*|is_?truncated)$`)

// lastPage is a JSON answer as the last page of its list has it: nothing is in it, and
// nothing follows. What is no JSON stays as it is.
func lastPage(body string) string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	out, err := json.Marshal(emptied("", v))
	if err != nil {
		return body
	}
	return string(out)
}

func emptied(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, m := range v {
			v[k] = emptied(k, m)
		}
	case []any:
		return []any{}
	case bool:
		return v && !more.MatchString(name)
	case string:
		if v == Cursor {
			return nil
		}
	}
	return v
}
