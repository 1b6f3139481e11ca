package sinkhole

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

func TestParseReplies(t *testing.T) {
	got, err := ParseReplies("p.yaml", []byte(`
replies:
  - host: "*.Example.com."
    path: /v1/**
    query: "format=json"
    method: post
    status: 201
    headers: {content-type: application/json, X-A: b}
    body: '{"id": 1}'
  - {path: /old, status: 302, headers: {Location: "https://new.example/x"}}
  - body: |
      two
      lines
`))
	want := []Reply{
		{Host: "*.example.com", Path: "/v1/**", Query: "format=json", Method: "POST", Status: 201, Header: map[string]string{"Content-Type": "application/json", "X-A": "b"}, Body: `{"id": 1}`},
		{Path: "/old", Status: 302, Header: map[string]string{"Location": "https://new.example/x"}},
		{Body: "two\nlines\n"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	b, _ := json.Marshal(Config{Replies: got})
	var back Config
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back.Replies, want) {
		t.Errorf("by JSON: %+v, %v", back.Replies, err)
	}
	for _, empty := range []string{"", "replies:", "replies: []", "# nothing"} {
		if got, err := ParseReplies("p.yaml", []byte(empty)); err != nil || len(got) != 0 {
			t.Errorf("%q: %v %v", empty, got, err)
		}
	}
}

func TestParseRepliesNamesTheLine(t *testing.T) {
	for in, want := range map[string]string{
		"replies:\n  - stauts: 200":                               "p.yaml:2:5: a reply: there is no key \"stauts\"",
		"replies:\n  - status: 99":                                "p.yaml:2:13: status",
		"replies:\n  - status: many":                              "p.yaml:2:13: status",
		"replies:\n  - host: a\n    host: b":                      "p.yaml:3:5: a reply: \"host\" appears here twice",
		"replies:\n  - query: x":                                  "p.yaml:2:12: query",
		"replies:\n  - path: x":                                   "p.yaml:2:11: path",
		"replies:\n  - host: '[a'":                                "p.yaml:2:11: host is not a pattern",
		"replies:\n  - headers: {Content-Length: 3}":              "p.yaml:2:15: Content-Length",
		"replies:\n  - headers: {\"a b\": 3}":                     "p.yaml:2:15: ",
		"replies:\n  - headers: {A: \"x\\r\\ny\"}":                "p.yaml:2:18: the value of A",
		"replies:\n  - headers: {A: x, a: y}":                     "p.yaml:2:21: headers: A appears here twice",
		"replies:\n  - headers: no":                               "p.yaml:2:14: headers must be a mapping",
		"replies:\n  - body: [a]":                                 "p.yaml:2:11: body must be text",
		"replies: yes":                                            "p.yaml:1:10: replies must be a list",
		"answers: []":                                             "p.yaml:1:1: the file: there is no key \"answers\"",
		"- a":                                                     "p.yaml:1:1: the file must be a mapping",
		"replies:\n  - host: [":                                   "p.yaml:",
		"a: &a {}\nreplies:\n  - <<: *a":                          "p.yaml:",
		"replies:\n  - &r {host: a}\n  - *r":                      "p.yaml:3:5: a reply must be a mapping",
		"replies: [" + strings.Repeat("{}, ", maxReplies+1) + "]": "p.yaml:1:10: more than",
		strings.Repeat("#", maxReplyFile+1):                       "p.yaml: is larger",
	} {
		got, err := ParseReplies("p.yaml", []byte(in))
		if err == nil || got != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, %v; want %s", in, got, err, want)
			continue
		}
		var fault *ReplyError
		if !errors.As(err, &fault) || fault.Hint == "" {
			t.Errorf("%.60q: no remedy in %v", in, err)
		}
	}
	_, err := ParseReplies("p.yaml", []byte("replies:\n"+strings.Repeat("  - x: 1\n", 50)))
	if n := strings.Count(err.Error(), "\n"); n != maxFaults-1 {
		t.Errorf("%d faults", n+1)
	}
}

func FuzzParseReplies(f *testing.F) {
	f.Add([]byte("replies:\n  - {host: '*', status: 404, headers: {A: b}, body: |\n x}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		replies, err := ParseReplies("p.yaml", b)
		if err != nil && replies != nil {
			t.Fatal("replies and an error")
		}
		r := httptest.NewRequest(http.MethodGet, "http://h.example/x", http.NoBody)
		c := Config{Replies: replies}
		c.pageFor(r, "h.example", false, nil).write(httptest.NewRecorder(), false)
	})
}

func TestBuiltInPersonalities(t *testing.T) {
	replies, err := ParseReplies("replies.yaml", builtIn)
	if err != nil || len(replies) == 0 {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, url string
		status      int
		body        string
	}{
		{"GET", "http://connectivitycheck.gstatic.com/generate_204", 204, ""},
		{"GET", "https://registry.npmjs.org/-/ping", 200, "{}"},
		{"GET", "https://registry.npmjs.org/left-pad", 404, "Not found"},
		{"POST", "https://o1.ingest.sentry.io/api/1/envelope/", 200, "id"},
		{"POST", "https://slack.com/api/auth.test", 200, "ok"},
		{"GET", "https://unknown.example/", 200, ""},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(c.method, c.url, http.NoBody)
		cfg := Config{}
		cfg.pageFor(r, r.Host, false, nil).write(w, false)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s: %d %s", c.url, w.Code, w.Body)
		}
		own := Config{Replies: []Reply{{Host: r.Host, Body: "own"}}}
		w = httptest.NewRecorder()
		if own.pageFor(r, r.Host, false, nil).write(w, false); w.Body.String() != "own" {
			t.Errorf("%s: the user's own reply was not taken: %s", c.url, w.Body)
		}
	}
}
