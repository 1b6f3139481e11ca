package comment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const bot = "github-actions[bot]"

type note struct {
	ID   int64             `json:"id"`
	Body string            `json:"body"`
	User map[string]string `json:"user"`
}

// api is as much of GitHub's as comments need.
type api struct {
	mu    sync.Mutex
	notes []note
	asked []string
	// refuses is the status of each answer to a change, 0 for none.
	refuses int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r.Method+" "+r.URL.Path)
	if r.Header.Get("Authorization") != "Bearer secret" || r.Header.Get("Accept") != "application/vnd.github+json" {
		http.Error(w, `{"message":"Bad credentials: secret"}`, http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodGet && a.refuses != 0 {
		http.Error(w, `{"message":"Resource not accessible by integration"}`, a.refuses)
		return
	}
	var sent note
	_ = json.NewDecoder(r.Body).Decode(&sent)
	one, isOne := strings.CutPrefix(r.URL.Path, "/repos/o/r/issues/comments/")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/repos/o/r/issues/7/comments":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		from := min((page-1)*perPage, len(a.notes))
		_ = json.NewEncoder(w).Encode(append([]note{}, a.notes[from:min(from+perPage, len(a.notes))]...))
	case r.Method == http.MethodPost && r.URL.Path == "/repos/o/r/issues/7/comments":
		sent.ID, sent.User = int64(len(a.notes)+1), map[string]string{"login": bot}
		a.notes = append(a.notes, sent)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(sent)
	case r.Method == http.MethodPatch && isOne:
		id, _ := strconv.Atoi(one)
		a.notes[id-1].Body = sent.Body
	default:
		http.NotFound(w, r)
	}
}

func served(t *testing.T, h http.Handler) Place {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return Place{API: s.URL, Repository: "o/r", Number: 7, Author: bot, Token: "secret"}
}

// One comment is made, and from then on it is changed where it stands; nobody else's is.
func TestPut(t *testing.T) {
	t.Parallel()
	a := &api{}
	for i := range int64(perPage + 20) {
		a.notes = append(a.notes, note{ID: i + 1, Body: marker("coalmine") + "\nmine", User: map[string]string{"login": "mallory"}})
	}
	at := served(t, a)
	for i, step := range []struct{ name, body, done string }{
		{"coalmine", Body("coalmine", "### one", nil), Created},
		{"coalmine", Body("coalmine", "### one", nil), Unchanged},
		{"coalmine", Body("coalmine", "### two", []string{"x"}), Updated},
		{"other", Body("other", "### three", nil), Created},
		{"coalmine", Body("coalmine", "### four", nil), Updated},
	} {
		done, err := Put(context.Background(), at, step.name, step.body)
		if err != nil || done != step.done {
			t.Fatalf("step %d: %s, %v", i, done, err)
		}
	}
	if len(a.notes) != perPage+22 || !strings.Contains(a.notes[perPage+20].Body, "### four") || !strings.Contains(a.notes[perPage+21].Body, "### three") {
		t.Errorf("%d comments, the last %+v", len(a.notes), a.notes[perPage+20:])
	}
	for _, n := range a.notes[:perPage+20] {
		if !strings.HasSuffix(n.Body, "\nmine") {
			t.Fatalf("another's comment was changed to %q", n.Body)
		}
	}
}

// What the API refuses is an error in its own words, without the token.
func TestRefused(t *testing.T) {
	t.Parallel()
	at := served(t, &api{refuses: http.StatusForbidden})
	if _, err := Put(context.Background(), at, "x", "y"); err == nil || !strings.Contains(err.Error(), "403 Forbidden to POST: Resource not accessible") {
		t.Error(err)
	}
	at.Token = "ecret"
	if _, err := Put(context.Background(), at, "x", "y"); err == nil || strings.Contains(err.Error(), "ecret") {
		t.Errorf("the token is told: %v", err)
	}
	elsewhere := served(t, http.RedirectHandler("https://example.com/", http.StatusFound))
	if _, err := Put(context.Background(), elsewhere, "x", "y"); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect is followed: %v", err)
	}
	for _, bad := range []Place{
		{API: "http://example.com", Repository: "o/r", Token: "t"}, {API: at.API, Repository: "o/r/../x", Token: "t"}, {API: at.API, Repository: "o/r"}, {API: at.API, Repository: "o/r", Token: "a\nb"}, {API: ":", Repository: "o/r", Token: "t"},
	} {
		if _, err := Put(context.Background(), bad, "x", "y"); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestBodyHasRoom(t *testing.T) {
	t.Parallel()
	part := strings.Repeat("x", 30_000) + "\n"
	got := Body("a --> b\nc", "### head", []string{part, part, part})
	if len(got) > maxBody || strings.Count(got, part) != 2 || !strings.Contains(got, "had no room") || !strings.HasPrefix(got, "<!-- coalmine: a  b c -->\n") {
		t.Errorf("%d bytes: %.80q", len(got), got)
	}
}

func TestFromEvent(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"pull_request":{"number":7}}`: "7 <nil>", `{"merge_group":{}}`: "0 " + ErrNoPullRequest.Error(), `{"pull_request":{"number":-1}}`: "0 " + ErrNoPullRequest.Error(),
		`[]`: "",
	} {
		n, err := FromEvent([]byte(payload))
		if got := fmt.Sprint(n, " ", err); got != want && payload != "[]" || payload == "[]" && err == nil {
			t.Errorf("%s: %s", payload, got)
		}
	}
}

// answering is an API that answers the same to everything.
type answering struct {
	status int
	data   []byte
	sent   []string
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.sent = append(a.sent, r.Method+" "+r.URL.Host)
	return &http.Response{StatusCode: a.status, Status: strconv.Itoa(a.status), Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.data)), Request: r}, nil
}

// Whatever the API answers, a comment that is changed is the author's and has the marker, and no
// error tells the token.
func FuzzAPI(f *testing.F) {
	f.Add(200, []byte(`[{"id":3,"body":"<!-- coalmine: x -->\nold","user":{"login":"github-actions[bot]"}},{"id":4,"body":"<!-- coalmine: x -->","user":null}]`))
	f.Add(403, []byte(`{"message":"no: t0ken-of-the-job"}`))
	f.Add(200, []byte(`{}`))
	f.Add(302, []byte(`[{"id":-1}]`))
	f.Fuzz(func(t *testing.T, status int, data []byte) {
		const token = "t0ken-of-the-job"
		if status < 100 || status > 999 {
			return
		}
		c, err := newClient(Place{API: "https://api.example", Repository: "o/r", Number: 7, Author: bot, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		a := &answering{status: status, data: data}
		c.http.Transport = a
		id, body, err := c.find(t.Context(), marker("x"))
		if id != 0 && (err != nil || !strings.HasPrefix(body, marker("x"))) {
			t.Errorf("comment %d, %q, %v", id, body, err)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("the error tells the token: %v", err)
		}
		for _, sent := range a.sent {
			if sent != "GET api.example" {
				t.Errorf("it sent %s", sent)
			}
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"pull_request":{"number":7}}`))
	f.Add([]byte(`{"pull_request":{"number":-7}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := FromEvent(data); (n > 0) != (err == nil) {
			t.Errorf("%d, %v", n, err)
		}
	})
}
