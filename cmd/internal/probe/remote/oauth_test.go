package remote

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// answering makes a RoundTripper of a function.
type answering func(*http.Request) *http.Response

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

func exampleURL(t *testing.T) *url.URL {
	t.Helper()
	u, err := Address("https://mcp.example.com/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// visited are the files of the log of a part of a visit.
func visited(t *testing.T, trip answering, token string, redact func(string) string, part func(*visit)) []byte {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	log, err := (session.Output{Root: root}).Create(session.Header{})
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{Settings: Settings{Remote: &plan.Remote{Header: map[string]string{"Authorization": token}}, URL: exampleURL(t), RoundTripper: trip}, log: log, redact: redact}
	v.http = newPeer(&v.Settings)
	part(v)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range []string{"session.jsonl", "trace.jsonl"} {
		data, err := root.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}

// Whatever a server says of its authorization: no request goes to another origin, none has the
// user's credentials before the server is known, and the log stays small.
func FuzzAuthorization(f *testing.F) {
	f.Add(`Bearer resource_metadata="http://other.example/x"`, "", 401, []byte(`{"resource":"https://mcp.example.com","authorization_servers":["http://other.example"],"bearer_methods_supported":["query"]}`))
	f.Add("", "https://other.example/mcp", 307, []byte(`{"issuer":1,"jwks_uri":"http://[::1"}`))
	f.Add("", "/%2e%2e//other.example/mcp", 308, []byte(`{"issuer":"http://other.example","response_types_supported":["token"]}`))
	f.Add("Basic", "", 200, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Fuzz(func(t *testing.T, challenge, location string, status int, document []byte) {
		if status < 200 || status > 599 {
			t.Skip("no status of an answer")
		}
		const token = "Bearer of-the-user"
		u := exampleURL(t)
		trip := answering(func(r *http.Request) *http.Response {
			if r.URL.Scheme != u.Scheme || !strings.EqualFold(r.URL.Host, u.Host) {
				t.Errorf("a request to %s", r.URL)
			}
			if r.Header.Get("Authorization") == token {
				t.Errorf("the user's credentials are sent to %s", r.URL)
			}
			answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader(document))}
			if r.Method == http.MethodPost {
				answer.StatusCode = status
				answer.Header.Set("Www-Authenticate", challenge)
				answer.Header.Set("Location", location)
				answer.Header.Set("Set-Cookie", challenge)
			}
			return answer
		})
		data := visited(t, trip, token, func(s string) string { return s }, func(v *visit) { v.arrive(t.Context()) })
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 8<<10)
		n := 0
		for lines.Scan() {
			n++
		}
		if lines.Err() != nil || n > 200 {
			t.Errorf("%d lines of a log: %v", n, lines.Err())
		}
	})
}

// A list without an end fills no log.
func TestALongListIsBounded(t *testing.T) {
	if n := len(textsOf([]byte(`["x"` + strings.Repeat(`,"http://other.example"`, 10_000) + `]`))); n > maxTexts {
		t.Errorf("%d texts", n)
	}
}
