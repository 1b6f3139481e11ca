package analyze_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func TestAServerThatNeedsSomethingIsSaidToNeedIt(t *testing.T) {
	for said, want := range map[string]string{
		"Error: GITHUB_TOKEN environment variable is required":                 "credential (GITHUB_TOKEN)",
		"BRAVE_API_KEY is not set":                                             "credential (BRAVE_API_KEY)",
		"Missing API key. Please provide one.":                                 "credential",
		"HTTP 401 Unauthorized":                                                "credential",
		"Config file not found: /etc/app.toml":                                 "configuration (/etc/app.toml)",
		"Please set DATABASE_HOST and DATABASE_PORT":                           "configuration (DATABASE_HOST, DATABASE_PORT)",
		"Usage: mcp-server-filesystem <directory>":                             "configuration (<directory>)",
		"not logged in: run terraform login, or set TF_TOKEN_app_terraform_io": "credential (TF_TOKEN_app_terraform_io)",
		"set HCLOUD_TOKEN, or run: hcloud context create (no active context)":  "credential (HCLOUD_TOKEN)",
		"Please re-authenticate with Garden One to use this tool.":             "credential",
		"Please sign in first":                                                 "credential",
		"You are not authenticated":                                            "credential",
		"User authenticated":                                                   "",
		"listening on stdio":                                                   "",
		"TypeError: Cannot read properties of undefined":                       "",
		"Token bucket refilled":                                                "",
		"The path is required":                                                 "",
		"Module not found: express":                                            "",
		"Values are missing: rows[0] and cells[a]":                             "",
	} {
		l := analyzetest.New(t, nil)
		l.Phase(finding.PhaseStart)
		l.Event(session.EventStarted{})
		l.Mark(session.Mark{Kind: session.MarkStderr, Text: "starting\n" + said + "\n"})
		l.Event(session.EventExit{Code: 1})
		got := strings.Join(l.Judge(analyze.Options{}).Inconclusive, "\n")
		reason := fmt.Sprintf("the server says that it needs a %s: “%s”", want, said)
		if want == "" && strings.Contains(got, "says that it needs") || want != "" && !strings.Contains(got, reason) {
			t.Errorf("%q: no %q in\n%s", said, want, got)
		}
	}
}

// A server that ends before any call names the variables that it lacks in its last words; one that was
// called lacks none at its start.
func TestWhatAServerLacksAtItsStart(t *testing.T) {
	for said, want := range map[string]string{
		"Error: GITHUB_TOKEN environment variable is required": "GITHUB_TOKEN",
		"NOTES_DIR is not set":                                 "",
		"Missing API key.":                                     "",
	} {
		l := analyzetest.New(t, nil)
		l.Phase(finding.PhaseStart)
		l.Event(session.EventStarted{})
		l.Mark(session.Mark{Kind: session.MarkStderr, Text: said + "\n"})
		l.Event(session.EventExit{Code: 1})
		l.Close()
		asked := questionsOf(t, l)
		if got := strings.Join(asked.AtStart, ","); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note)
	l.Mark(session.Mark{Kind: session.MarkStderr, Text: "GITHUB_TOKEN is not set\n"})
	l.CallFails("format_note", `{}`, "no token: set NOTES_TOKEN")
	l.End()
	l.Close()
	if asked := questionsOf(t, l); len(asked.AtStart) != 0 || strings.Join(asked.Variables, ",") != "NOTES_TOKEN" {
		t.Errorf("%+v", asked)
	}
}

func questionsOf(t *testing.T, l *analyzetest.Log) analyze.Questions {
	t.Helper()
	log, err := session.Open(l.Dir())
	if err != nil {
		t.Fatal(err)
	}
	asked, err := analyze.QuestionsOf(log)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// A part of a package that is installed only where it is asked for has a remedy of its own.
func TestAnOptionalPartOfAPackageIsANeed(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note, `{"name":"index","description":"Makes an index."}`)
	l.Call("format_note", `{}`, nil, nil)
	l.CallEnding("index", `{}`, "iserror", func() {
		l.Frame(session.S2C, `{"jsonrpc":"2.0","id":4,"result":{"isError":true,"content":[{"type":"text","text":"Dependency missing. Install with `+"`uvx --from 'notes-mcp[pro]' notes-mcp`"+`."}]}}`)
	}, nil)
	l.End()
	res := l.Judge(analyze.Options{})
	i := slices.IndexFunc(res.Gaps, func(g session.Gap) bool { return g.Code == session.GapProgramMissing })
	if i < 0 || !strings.Contains(res.Gaps[i].Text, "notes-mcp[pro]") || !strings.Contains(res.Gaps[i].Remedy, "pypi:notes-mcp[pro]") {
		t.Errorf("%+v", res.Gaps)
	}
}

func TestAToolThatNeedsSomethingIsSaidToNeedIt(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note, `{"name":"search","description":"Searches the web."}`)
	l.Call("format_note", `{}`, nil, nil)
	l.CallEnding("search", `{}`, "iserror", func() {
		l.Frame(session.S2C, `{"jsonrpc":"2.0","id":4,"result":{"isError":true,"content":[{"type":"text","text":"Error:\nSEARCH_API_KEY is not set \u001b[31m"}]}}`)
	}, nil)
	l.End()
	res := l.Judge(analyze.Options{})
	if n := res.Coverage.Needs; len(n) != 1 || n[0].Tool != "search" || n[0].What != "credential" || n[0].Names[0] != "SEARCH_API_KEY" || strings.Contains(n[0].Said, "\x1b") {
		t.Errorf("needs: %+v, %v", n, res.Inconclusive)
	}
}

// A program that was looked for in vain, and a service for which a stand-in
// answered, are seen even where nobody speaks of them; tools that lack the same
// are one need.
func TestWhatAToolLacksIsSeen(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(`{"name":"shot","description":"Takes a screenshot."}`, `{"name":"tap","description":"Taps."}`, `{"name":"price","description":"Asks for a price."}`)
	fails := func(tool string, work func()) {
		l.CallEnding(tool, `{}`, "iserror", func() {
			work()
			l.Frame(session.S2C, `{"jsonrpc":"2.0","id":4,"result":{"isError":true,"content":[{"type":"text","text":"failed"}]}}`)
		}, nil)
	}
	spawn := func() {
		for _, dir := range []string{"/usr/local/bin/", "/usr/bin/"} {
			l.Record(trace.Record{Op: trace.OpExec, Call: "execve", Path: dir + "adb", Err: "ENOENT"})
		}
		l.Record(trace.Record{Op: trace.OpExec, Call: "execve", Path: "/usr/local/bin/ls", Err: "ENOENT"})
		l.Record(trace.Record{Op: trace.OpExec, Call: "execve", Path: "/usr/bin/ls"})
	}
	fails("shot", spawn)
	fails("tap", spawn)
	fails("price", func() {
		to := netip.MustParseAddrPort("198.18.0.9:443")
		l.Connect("198.18.0.9", 443, "")
		l.Flow(trace.Flow{Type: trace.FlowOpen, Flow: 1, Proto: "tcp", Dest: to, Host: "api.example.org"})
		l.Flow(trace.Flow{Type: trace.FlowRequest, Flow: 1, Proto: "tcp", Dest: to, Host: "api.example.org", Method: "GET", Path: "/price"})
		l.Flow(trace.Flow{Type: trace.FlowClose, Flow: 1, Proto: "tcp", Dest: to, Host: "api.example.org"})
	})
	l.End()
	var got []string
	for _, n := range l.Judge(analyze.Options{}).Coverage.Needs {
		got = append(got, fmt.Sprint(n.What, n.Names, n.Tool, n.Tools))
	}
	if want := "program[adb]shot[shot tap] service[198.18.0.9:443]price[]"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

func TestWhatIsSaidOfProgramsAndDevices(t *testing.T) {
	for said, want := range map[string]string{
		"/bin/sh: 1: lein: not found": "program", "Error: spawn xcrun ENOENT": "program", `exec: "gopls": executable file not found in $PATH`: "program",
		"browserType.launch: Executable doesn't exist at /home/u/.cache/ms-playwright/chrome": "program", "Could not find Chrome (ver. 131)": "program",
		"error: no devices/emulators found": "device", "The simulator is not available": "device",
		"no results found": "", "page not found": "", "the user was not found": "",
	} {
		l := analyzetest.New(t, nil)
		l.Begin(`{"name":"a","description":"b"}`)
		l.CallEnding("a", `{}`, "iserror", func() {
			l.Frame(session.S2C, fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"result":{"isError":true,"content":[{"type":"text","text":%q}]}}`, said))
		}, nil)
		l.End()
		got := ""
		for _, n := range l.Judge(analyze.Options{}).Coverage.Needs {
			got += n.What
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A tool that works needs nothing, whatever one of its errors says.
func TestAToolThatAnsweredNeedsNothing(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note)
	l.Call("format_note", `{}`, nil, nil)
	l.CallEnding("format_note", `{}`, "iserror", func() {
		l.Frame(session.S2C, `{"jsonrpc":"2.0","id":4,"result":{"isError":true,"content":[{"type":"text","text":"the argument token is required"}]}}`)
	}, nil)
	l.End()
	if res := l.Judge(analyze.Options{}); len(res.Coverage.Needs) > 0 || res.Verdict != analyze.Clean {
		t.Errorf("%s, needs %+v", res.Verdict, res.Coverage.Needs)
	}
}

func TestPhasesThatWereNotReachedAreNamed(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Phase(finding.PhaseStart)
	l.Event(session.EventStarted{})
	l.Event(session.EventExit{Code: 1})
	if got := fmt.Sprint(l.Judge(analyze.Options{}).Coverage.Unreached); got != "[handshake list call shutdown]" {
		t.Errorf("unreached: %s", got)
	}
}

// What a client that pins sent could not be read: a hole, unless the policy accepts the host.
func TestAcceptedOpaqueFlowsAreNoHoles(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(`{"name":"get","description":"Gets a web page at a URL."}`)
	l.Call("get", `{}`, func() {
		to := netip.MustParseAddrPort("198.18.0.7:443")
		l.Connect("198.18.0.7", 443, "")
		l.Flow(trace.Flow{Type: trace.FlowOpen, Flow: 1, Proto: "tcp", Dest: to, Host: "pinned.example.org"})
		l.Flow(trace.Flow{Type: trace.FlowClose, Flow: 1, Proto: "tcp", Dest: to, Host: "pinned.example.org", TLS: true, Opaque: true})
	}, nil)
	l.End()
	res := l.Judge(analyze.Options{Least: true})
	if res.Verdict != analyze.Inconclusive || res.Coverage.Opaque != 1 {
		t.Fatalf("%s, %d opaque: %v", res.Verdict, res.Coverage.Opaque, res.Inconclusive)
	}
	p, err := policy.Parse("p", res.Least.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	under := analyzetest.Judge(t, l.Dir(), analyze.Options{Policy: p})
	if under.Verdict != analyze.Clean || len(under.Coverage.Accepted) != 1 {
		t.Errorf("%s, accepted %v: %v", under.Verdict, under.Coverage.Accepted, under.Inconclusive)
	}
}

// What turned away from TLS before it sent anything was read whole where nobody but a
// second start answers: on the loopback address. Elsewhere, or after a byte, it was not.
func TestTurningAwayOnLoopback(t *testing.T) {
	turned := trace.Flow{TLS: true, App: "tls", Opaque: true, Up: 382, Error: "TLS handshake: EOF"}
	inside, quic := turned, turned
	inside.Kept, quic.TLS, quic.App, quic.Error = 12, false, "quic", ""
	for name, c := range map[string]struct {
		to   string
		flow trace.Flow
		hole bool
	}{
		"loopback":             {"[::1]:3000", turned, false},
		"mapped":               {"[::ffff:127.0.0.1]:3000", turned, false},
		"another address":      {"198.18.0.7:443", turned, true},
		"something was sent":   {"127.0.0.1:3000", inside, true},
		"a protocol of no TLS": {"127.0.0.1:3000", quic, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := analyzetest.New(t, nil)
			l.Begin(`{"name":"get","description":"Gets a web page at a URL."}`)
			l.Call("get", `{}`, func() {
				at := trace.Flow{Type: trace.FlowOpen, Flow: 1, Proto: "tcp", Dest: netip.MustParseAddrPort(c.to)}
				l.Flow(at)
				c.flow.Type, c.flow.Flow, c.flow.Proto, c.flow.Dest = trace.FlowClose, 1, at.Proto, at.Dest
				l.Flow(c.flow)
			}, nil)
			l.End()
			res := l.Judge(analyze.Options{})
			if hole := res.Coverage.Opaque > 0; hole != c.hole || hole != (res.Verdict == analyze.Inconclusive) {
				t.Errorf("%s, %d opaque: %v", res.Verdict, res.Coverage.Opaque, res.Inconclusive)
			}
		})
	}
}
