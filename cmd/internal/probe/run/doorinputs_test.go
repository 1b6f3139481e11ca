package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

func worldOfDoors(t *testing.T) *oracle.World {
	t.Helper()
	w, err := oracle.NewWorld("/home/dana/work", "/home/dana", bytes.NewReader(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// What a route reads gets each input whole, wherever it stands in the request, and the log says where.
func TestRequestsWithInputs(t *testing.T) {
	t.Parallel()
	token := func(n int) string { return oracle.Token(1, "a route", n) }
	got := map[string][]string{}
	d, _ := opened(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var members map[string]string
		if len(body) > 0 && json.Unmarshal(body, &members) != nil {
			t.Errorf("%q is no object of texts", body)
		}
		name, inFiles := strings.CutPrefix(r.URL.Path, "/files/")
		got["name"] = append(got["name"], name)
		for _, param := range []string{"cmd", "path", "url"} {
			if v := r.URL.Query().Get(param); v != "" && v != "1" {
				got[param] = append(got[param], v)
				if r.Method == http.MethodPost && members[param] != v {
					t.Errorf("the body has %q, the query %q", members[param], v)
				}
			}
		}
		if !inFiles && r.URL.Path != "/run" {
			t.Errorf("%s was asked for", r.URL.Path)
		}
	})
	attacks := requestsWith([]literals.Route{
		{Method: "GET", Path: "/files/1", Open: "/files/{name}"}, {Method: "POST", Path: "/run", Params: []string{"cmd", "path", "url"}}, {Method: "GET", Path: "/none"},
	}, worldOfDoors(t), token)
	oracles := map[string][]string{}
	for _, a := range attacks {
		d.send(a.request)
		oracles[a.in.At] = append(oracles[a.in.At], a.in.Oracle)
	}
	for at, c := range map[string]struct{ has, lacks string }{
		"/GET ~1files~1{name}: name": {session.OraclePath, ""}, "/POST ~1run: cmd": {session.OracleCommand, ""},
		"/POST ~1run: path": {session.OracleCommand, session.OraclePath}, "/POST ~1run: url": {session.OracleCommand, session.OracleFetch},
	} {
		if !slices.Contains(oracles[at], c.has) || slices.Contains(oracles[at], c.lacks) {
			t.Errorf("%s: %q, want %s and no %q", at, oracles[at], c.has, c.lacks)
		}
	}
	if !slices.ContainsFunc(got["name"], func(s string) bool { return strings.Contains(s, "../") }) || !slices.ContainsFunc(got["cmd"], func(s string) bool { return strings.Contains(s, "$(") || strings.Contains(s, ";") }) {
		t.Errorf("the inputs did not arrive: %q", got)
	}
	again := requestsWith([]literals.Route{{Method: "GET", Path: "/files/1", Open: "/files/{name}"}}, worldOfDoors(t), token)
	if len(again) == 0 || again[0].path != attacks[0].path {
		t.Error("the same routes got other inputs")
	}
}

// The requests of one port are bounded, and each slot has its first input before any has the next.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	var list []literals.Route
	for i := range 2 * maxInjected {
		list = append(list, literals.Route{Method: "GET", Path: fmt.Sprintf("/a%d", i), Params: []string{"cmd"}})
	}
	token := func(n int) string { return oracle.Token(1, "a route", n) }
	attacks := requestsWith(list, worldOfDoors(t), token)
	seen := map[string]bool{}
	for _, a := range attacks {
		seen[a.in.At] = true
	}
	if len(attacks) != maxInjected || len(seen) != maxInjected {
		t.Errorf("%d requests for %d slots", len(attacks), len(seen))
	}
}

func FuzzRequestsWith(f *testing.F) {
	f.Add("/a/{b}/{c}", "d")
	f.Add("/{{}", "")
	f.Fuzz(func(t *testing.T, open, param string) {
		w := &oracle.World{Root: "/srv"}
		for _, a := range requestsWith([]literals.Route{{Method: "POST", Path: "/a", Open: open, Params: []string{param}}}, w, func(int) string { return "tokentokentoke" }) {
			if strings.ContainsAny(a.path[strings.IndexByte(a.path, '?')+1:], " \r\n") {
				t.Fatalf("%q", a.path)
			}
		}
	})
}
