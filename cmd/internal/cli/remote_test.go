package cli

import (
	"slices"
	"strings"
	"testing"
)

// A configuration's remote servers get the headers that name a variable, and none with a
// literal value. One that cannot be reached so does not hide the others.
func TestConfiguredRemotes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("REMOTE_TOKEN", "tok-91d2e7")
	putFile(t, "all.json", `{"mcpServers": {
		"bare": {"url": "https://one.invalid/mcp"},
		"secret": {"url": "https://two.invalid/mcp", "headers": {"Authorization": "Bearer ${REMOTE_TOKEN}", "X-Key": "literal", "X-Env": "${env:REMOTE_TOKEN}"}},
		"unset": {"url": "https://three.invalid/mcp", "headers": {"Authorization": "${REMOTE_UNSET}"}},
		"query": {"url": "https://four.invalid/mcp?key=1"},
		"local": {"command": "first"}}}`)
	f := &probeFlags{config: "all.json"}
	runs, err := f.runs(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range runs {
		line := o.Name
		if o.Remote != nil {
			line += " " + o.Remote.Address
			for _, h := range []string{"Authorization", "X-Key", "X-Env"} {
				if v := o.Remote.Header[h]; v != "" {
					line += " " + h + "=" + v
				}
			}
		}
		got = append(got, line)
	}
	want := []string{"bare https://one.invalid/mcp", "secret https://two.invalid/mcp Authorization=Bearer tok-91d2e7 X-Env=tok-91d2e7", "local"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(f.bad) != 2 || !strings.Contains(f.bad[0].Error(), "REMOTE_UNSET") || !strings.Contains(f.bad[1].Error(), "query") {
		t.Errorf("%v", f.bad)
	}
}
