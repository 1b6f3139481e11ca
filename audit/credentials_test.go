package audit

import (
	"strings"
	"testing"
)

// value is a secret of no known shape.
const value = "q7Xk2LmW9vRzT4bN"

// A secret that stands in an entry is told by its place, wherever it stands, and never by its value.
func TestCredentialsOfServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		server Server
		want   string
	}{
		{Server{Env: map[string]string{"API_KEY": value, "TOKEN": "${T}", "MAX_TOKENS": "100000"}}, "API_KEY"},
		{Server{Headers: map[string]string{"Authorization": "Bearer " + value, "X-API-Key": value, "Accept": value, "Private-Token": "Bearer ${input:t}"}}, "the header Authorization, the header X-API-Key"},
		{Server{Headers: map[string]string{"authorization": "Basic dXNlcjpxN1hrMkxtVzl2"}}, "the header authorization"},
		{Server{URL: "https://a.example/mcp?apiKey=" + value + "&profile=" + value}, "the parameter apiKey of an address"},
		{Server{URL: "https://a.example/mcp?tavilyApiKey=" + value + "#token=" + value}, "the parameter tavilyApiKey of an address"},
		{Server{URL: "https://a.example/mcp?key=" + value}, "the parameter key of an address"},
		{Server{URL: "https://user:" + value + "@a.example/mcp"}, "the password in an address"},
		{Server{URL: "https://" + value + "@a.example/mcp"}, "the user in an address"},
		{Server{Command: []string{"a", "--api-key=" + value, "--accessToken", value, "--model", value}}, "the argument --api-key, the argument --accessToken"},
		{Server{Command: []string{"npx", "mcp-remote@1", "https://a.example", "--header", "Authorization:Bearer " + value}}, "the header Authorization"},
		{Server{Command: []string{"docker", "run", "-e", "GITHUB_TOKEN=" + value, "-e", "OTHER_TOKEN", "x@sha256:0"}}, "the argument GITHUB_TOKEN"},
		{Server{Command: []string{"a", "postgresql://u:" + value + "@db.example/x", "--url=https://a.example?token=" + value}}, "the password in an address, the parameter token of an address"},
	} {
		got := strings.Join(credentials(&c.server), ", ")
		if got != c.want || strings.Contains(got, value[:4]) {
			t.Errorf("%+v: %q, want %q", c.server, got, c.want)
		}
	}
}

// References, samples and what only looks like a secret's name stay quiet.
func TestWhatIsNoCredential(t *testing.T) {
	t.Parallel()
	values := []string{"${TOKEN}", "$TOKEN", "${input:token}", "${env:TOKEN}", "%TOKEN%", "{{token}}", "<your token>", "YOUR_API_KEY", "sk-xxxxxxxx1", "sk-...1234567", "op://vault/item/field", "changeme", "abc", ""}
	for _, v := range values {
		for _, s := range []Server{
			{Env: map[string]string{"API_KEY": v}}, {Headers: map[string]string{"Authorization": "Bearer " + v, "X-Api-Key": v}},
			{URL: "https://a.example/mcp?api_key=" + v}, {URL: "https://user:" + v + "@a.example/mcp"},
			{Command: []string{"a", "--api-key=" + v, "--token", v, "--header", "Authorization: Bearer " + v, "-e", "API_KEY=" + v, "postgres://u:" + v + "@h/db"}},
		} {
			if got := credentials(&s); len(got) > 0 {
				t.Errorf("%+v: %q", s, got)
			}
		}
	}
	for _, s := range []Server{
		{Headers: map[string]string{"Content-Type": "application/json1", "X-Request-Id": value}},
		{URL: "https://a.example/mcp?profile=" + value + "&key=abc"}, {URL: "https://user@a.example/mcp"}, {URL: "mailto:" + value + "@a.example"},
		{Command: []string{"a", "--key", "id", "--token-limit=100000", "--tokenizer=" + value, "--token", "--verbose1", "--password-file=/run/x1", "C:\\Users\\x1", "git@github.com:a/b1"}},
	} {
		if got := credentials(&s); len(got) > 0 {
			t.Errorf("%+v: %q", s, got)
		}
	}
}

// A server.json may give away what it should ask for.
func TestCredentialsOfRegistryEntries(t *testing.T) {
	t.Parallel()
	const src = `{"name": "io.example/r", "packages": [
 {"registryType": "npm", "identifier": "some-server", "version": "1.0.0",
  "packageArguments": [{"type": "named", "name": "--api-key", "value": "` + value + `"}], "environmentVariables": [{"name": "TOKEN", "isSecret": true}]}],
 "remotes": [{"type": "sse", "url": "https://mcp.example/sse", "headers": [{"name": "Authorization", "value": "Bearer ` + value + `"}]}]}`
	r, err := Dir(t.Context(), write(t, map[string]string{"server.json": src}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := findings(t, r, ConfigSecret), "config-secret server.json:2 low; config-secret server.json:4 low"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Message, value[:4]) {
			t.Errorf("a secret is printed: %s", f.Message)
		}
	}
}
