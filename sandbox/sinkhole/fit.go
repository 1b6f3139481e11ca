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

// Fit is a JSON answer with the members that a client's code reads.
type Fit struct {
	// Words are pieces of the addresses that this code asks, the nearest last. Without any
	// the answer is for addresses that fit no other.
	Words []string `json:"words,omitempty"`
	Body  string   `json:"body"`
}

// fitting is the answer with the longest piece in the address; of several that which
// names it nearest to its code. It says whether any piece is in it.
func fitting(fits []Fit, r *http.Request, host string) (body string, named bool) {
	address := host + r.URL.Path
	longest, nearest := 0, 0
	for _, f := range fits {
		if len(f.Words) == 0 && body == "" {
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
