//go:build linux && e2e

package wiretap

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// suite is the official conformance suite's program.
func suite() string { return sandboxtest.Cache("clients/current/node_modules/.bin/conformance") }

// passing is what differs from run to run or from hop to hop: times, ports, random
// ids, and how a reply's body is framed.
var passing = regexp.MustCompile(`\d+(\.\d+)? ?ms|127\.0\.0\.1:\d+|localhost:\d+|\d{4}-\d\d-\d\dT[0-9:.]+Z|` +
	`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\s*"(date|connection|content-length|transfer-encoding)": "[^"]*",?`)

// started is the time of a run at the end of a directory's name.
var started = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[0-9Z-]+$`)

// judgement is what the suite says of a server in its checks.json of each
// scenario, by the scenario's name.
func judgement(t *testing.T, url string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	said := output(t, "sh", "-c", `"$0" "$@" 2>&1`, suite(), "server", "--url", url, "--suite", "all", "--output-dir", dir)
	files, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: the suite says nothing of the server: %.2000s", err, said)
	}
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(started.ReplaceAllString(filepath.Base(filepath.Dir(file)), ""), "server-")
		out[name] = passing.ReplaceAllString(string(data), "")
	}
	return out
}

// verdicts reads what the suite prints of a client's checks.
var verdicts = regexp.MustCompile(`(?m)^.*(?:SUCCESS|FAILURE|WARNING|PASSED|FAILED|Passed:).*$`)

// ofClient is what the suite says of a client in one scenario. It tells so on stderr.
func ofClient(t *testing.T, command, scenario string) string {
	t.Helper()
	out := output(t, "sh", "-c", `"$0" "$@" 2>&1`, suite(), "client", "--command", command, "--scenario", scenario)
	return strings.Join(verdicts.FindAllString(passing.ReplaceAllString(out, ""), -1), "\n")
}

// serverScenarios are those of the suite's; one is left out: the tap refuses a
// rebound name itself, where the reference server does not.
var serverScenarios = []string{"server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list", "tools-call-simple-text",
	"tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-with-logging", "tools-call-error",
	"tools-call-with-progress", "tools-call-sampling", "tools-call-elicitation", "json-schema-2020-12", "elicitation-sep1034-defaults", "server-sse-polling",
	"server-sse-multiple-streams", "elicitation-sep1330-enums", "resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read",
	"resources-subscribe", "resources-unsubscribe", "prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"}

func TestConformanceThroughTheTap(t *testing.T) {
	if !whole() {
		t.Skip("the conformance suite runs in make conformance-report")
	}
	needReport(t)
	at := serve(t, "http")
	want, got := judgement(t, at), judgement(t, front(t, at, nil))
	for _, scenario := range serverScenarios {
		t.Run("server "+scenario, func(t *testing.T) {
			if diff := cmp.Diff(want[scenario], got[scenario]); diff != "" || want[scenario] == "" {
				t.Errorf("%q: %s", want[scenario], diff)
			}
		})
	}
	sdk := sandboxtest.Cache("servers/current/npm/node_modules/@modelcontextprotocol/sdk")
	for _, scenario := range []string{"initialize", "tools_call", "sse-retry"} {
		t.Run("client "+scenario, func(t *testing.T) {
			t.Parallel()
			sandboxtest.Acquire(t, sandboxtest.Light)
			direct := "node testdata/conform.mjs " + sdk
			want := ofClient(t, direct, scenario)
			got := ofClient(t, "env "+modeEnv+"=front "+os.Args[0]+" "+direct, scenario)
			if diff := cmp.Diff(want, got); diff != "" || want == "" {
				t.Errorf("%q: %s", want, diff)
			}
		})
	}
}
