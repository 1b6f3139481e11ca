package remote

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/canaries"
)

// Of a passed value that the bound of a text halves, no half is written.
func TestAPassedValueIsRedactedBeforeItIsCut(t *testing.T) {
	const value = "zq7-of-the-user-4711-0815"
	// half is what would be left of it: too little to be told from other text.
	half := value[:canaries.LeastPassed-1]
	long := func(bound int) string { return strings.Repeat("a", bound-len(half)) + value }
	for name, c := range map[string]struct {
		header http.Header
		status int
		body   string
		want   string
	}{
		"a downgrade":             {http.Header{"Location": {"http://" + long(200)}}, 307, "", "Location of http://"},
		"a redirect":              {http.Header{"Location": {"https://" + long(200)}}, 307, "", "Location at https://"},
		"a scheme":                {http.Header{"Location": {long(20) + "://h"}}, 307, "", "Location at "},
		"a cookie":                {http.Header{"Set-Cookie": {long(100) + "=x"}}, 200, "", "attributes of the cookie"},
		"a resource":              {nil, 200, `{"resource":"` + long(200) + `"}`, "resource metadata is"},
		"an issuer":               {nil, 200, `{"issuer":"` + long(200) + `"}`, "the issuer is"},
		"an endpoint":             {nil, 200, `{"token_endpoint":"http://` + long(200) + `/t"}`, "token_endpoint names http://"},
		"an authorization server": {nil, 200, `{"authorization_servers":["http://` + long(200) + `/t"]}`, "authorization_servers names http://"},
	} {
		t.Run(name, func(t *testing.T) {
			trip := answering(func(r *http.Request) *http.Response {
				answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader([]byte(c.body)))}
				if r.Method == http.MethodPost {
					answer.StatusCode = c.status
					for name, values := range c.header {
						answer.Header[name] = values
					}
				}
				return answer
			})
			got := string(visited(t, trip, "Bearer x", canaries.NewRedactor([]string{value}).Redact, func(v *visit) { v.arrive(t.Context()) }))
			if !strings.Contains(got, c.want) || strings.Contains(strings.ToLower(got), half) {
				t.Errorf("the log is %s", got)
			}
		})
	}
	v := &visit{redact: canaries.NewRedactor([]string{value}).Redact}
	for _, a := range []any{long(50), fmt.Errorf("x: %s", long(47))} {
		if got := v.say("%.50s", a); strings.Contains(got, half) {
			t.Errorf("%T: %s", a, got)
		}
	}
}
