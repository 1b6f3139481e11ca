package analyze_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A refusal of what was sent is no need of the tool's, and a need names what is lacking.
func TestARefusalOfOurInputIsNoNeed(t *testing.T) {
	t.Parallel()
	const args = `{"path":"/data/notes.txt","token":"abc123"}`
	for said, want := range map[string]string{
		"ValueError: embedded null byte in configuration":      "",
		"Invalid arguments for tool read: token is required":   "",
		"MCP error -32602: missing required argument: path":    "",
		"Directory not found: /data/notes.txt":                 "",
		"the argument token is required":                       "",
		"[Errno 2] No such file or directory: 'settings.json'": "",
		"user: not found":  "",
		"index: not found": "",
		"Error: UPLOAD_TOKEN environment variable is required":       "credential[UPLOAD_TOKEN]--env UPLOAD_TOKEN=VALUE passes a dummy value.",
		"Config file not found: ~/.app/settings.yaml":                "configuration[~/.app/settings.yaml]Pass a file of this kind after --, and show it to the server with --show PATH.",
		"could not open /dev/ttyUSB0: no device found":               "device[/dev/ttyUSB0]" + session.GapDeviceMissing.Kind().Remedy,
		"sh: 1: lein: not found":                                     "program[lein]" + session.GapProgramMissing.Kind().Remedy,
		"[Errno 2] No such file or directory: 'ffmpeg'":              "program[ffmpeg]" + session.GapProgramMissing.Kind().Remedy,
		"HTTP 401 Unauthorized: no access token for /data/notes.txt": "",
	} {
		l := analyzetest.New(t, nil)
		l.Begin(`{"name":"read","description":"Reads.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"token":{"type":"string"}}}}`)
		l.CallFails("read", args, said)
		l.End()
		res, got := l.Judge(analyze.Options{}), ""
		for _, n := range res.Coverage.Needs {
			got += fmt.Sprint(n.What, n.Names)
		}
		for _, g := range res.Gaps {
			if got != "" && g.Code != session.GapToolOnlyErrors {
				got += g.Remedy
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// Hosts of our own inputs and those of telemetry are no service that a tool needs; a port
// of this machine on which nothing listens is.
func TestServicesThatAreNeeded(t *testing.T) {
	t.Parallel()
	for peer, own := range map[string]bool{
		"www.example.com:443": true, "us.i.posthog.com:443": true, "o1.ingest.sentry.io:443": true, "telemetry.tool.dev": true, "api.weather.gov:443": false,
		"198.18.0.9:443": false, "status.acme.io:443": false,
	} {
		if analyze.IsOwnPeer(peer) != own {
			t.Errorf("%s: %v", peer, !own)
		}
	}
	l := analyzetest.New(t, nil)
	l.Begin(`{"name":"query","description":"Asks the database."}`)
	l.CallEnding("query", `{}`, "iserror", func() { l.Connect("127.0.0.1", 5432, "ECONNREFUSED") }, nil)
	l.End()
	res := l.Judge(analyze.Options{})
	if n := res.Coverage.Needs; len(n) != 1 || n[0].Names[0] != "localhost:5432 (PostgreSQL)" {
		t.Errorf("%+v", n)
	}
	named := slices.ContainsFunc(res.Gaps, func(g session.Gap) bool {
		return g.Code == session.GapServiceMissing && strings.HasPrefix(g.Remedy, "--service postgres ")
	})
	if !named {
		t.Errorf("no gap names the flag: %+v", res.Gaps)
	}
}
