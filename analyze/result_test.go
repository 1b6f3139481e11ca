package analyze_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestTheSourceCountsToo(t *testing.T) {
	var many []audit.PartlyParsed
	for i := range 8 {
		many = append(many, audit.PartlyParsed{Path: fmt.Sprintf("%d.js", i), Parts: 1, Why: "x", Program: true})
	}
	for _, c := range []struct {
		options analyze.Options
		want    string
	}{
		{analyze.Options{}, ""},
		{analyze.Options{AuditErr: errors.New("nothing was checked")}, "the source was not audited: nothing was checked"},
		{analyze.Options{Audit: &audit.Report{Skipped: 3}}, "the audit did not fully read 3 files: unreadable, too large or too slow"},
		{analyze.Options{Audit: &audit.Report{Ungraded: "coalmine has no parser for any of the code", Profile: audit.Profile{CodeBytes: 9}}}, "the audit says little about the code: coalmine has no parser for any of the code"},
		{analyze.Options{Audit: &audit.Report{Ungraded: "there are compiled programs and no source"}}, ""},
		{analyze.Options{Audit: &audit.Report{PartlyParsed: []audit.PartlyParsed{{Path: "a.js", Parts: 2, Why: "nested too deeply", Program: true}, {Path: "b.js", Parts: 1}}}}, "the audit did not parse 2 parts of a.js: nested too deeply"},
		{analyze.Options{Audit: &audit.Report{PartlyParsed: many}}, "the audit did not parse 1 part of 0.js: x; the audit did not parse 1 part of 1.js: x; the audit did not parse 1 part of 2.js: x; the audit did not parse 1 part of 3.js: x; the audit did not parse 1 part of 4.js: x; the audit did not parse parts of 3 files more"},
		{analyze.Options{Audit: &audit.Report{PartlyParsed: []audit.PartlyParsed{{Path: "index.js", Parts: 1, Why: "x"}}}}, "the audit did not parse 1 part of index.js: x"},
	} {
		l := analyzetest.New(t, nil)
		l.Begin(quiet)
		l.Call("do", `{}`, nil, nil)
		l.End()
		if got := strings.Join(l.Judge(c.options).Inconclusive, "; "); got != c.want {
			t.Errorf("reasons %q, want %q", got, c.want)
		}
	}
}

func TestTheThresholdDecides(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(quiet)
	l.Call("do", `{}`, func() { l.Connect("93.184.216.34", 80, "ENETUNREACH") }, nil)
	l.End()
	for _, c := range []struct {
		failOn  finding.Severity
		verdict analyze.Verdict
		status  int
	}{{"", analyze.Clean, 0}, {finding.High, analyze.Clean, 0}, {finding.Low, analyze.Findings, 1}} {
		res := l.Judge(analyze.Options{FailOn: c.failOn})
		if res.Verdict != c.verdict || analyze.ExitStatus(res, c.failOn, false) != c.status {
			t.Errorf("fail-on %q: %s, %d", c.failOn, res.Verdict, analyze.ExitStatus(res, c.failOn, false))
		}
	}
}

func TestJudgingTwiceSaysTheSame(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note, quiet)
	for range 3 {
		l.Call("format_note", `{"text":"x"}`, func() { l.Read(sshKey); l.Connect("93.184.216.34", 80, "ENETUNREACH") }, nil)
		l.Call("do", `{}`, func() { l.Open("/data/x", "O_WRONLY|O_CREAT", "") }, nil)
	}
	l.End()
	var said [][]byte
	for range 3 {
		b, err := json.Marshal(l.Judge(analyze.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, b)
	}
	if !bytes.Equal(said[0], said[1]) || !bytes.Equal(said[0], said[2]) {
		t.Error("the same log was judged otherwise")
	}
}

func TestRunIsTold(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(quiet)
	l.Call("do", `{}`, nil, nil)
	l.End()
	res := l.Judge(analyze.Options{Version: "1.2.3"})
	if res.Run.Reproduce != "coalmine probe --sandbox local --network none --seed 1 -- node /srv/notes/index.js" {
		t.Errorf("reproduce %q", res.Run.Reproduce)
	}
	if d := res.Run.Finished.Sub(res.Run.Started); d <= 0 || d > time.Second {
		t.Errorf("took %v", d)
	}
	if res.Server != (analyze.Server{Name: "notes", Version: "1.0.0", Protocol: "2025-11-25", Exit: "exit status 0"}) {
		t.Errorf("server %+v", res.Server)
	}
	if c := res.Coverage.Tools; len(c) != 1 || c[0] != (analyze.ToolCoverage{Name: "do", What: "tool", Calls: 1, OK: 1}) {
		t.Errorf("coverage %+v", c)
	}
}

// The command that replays a run is read by a shell as the words that were run.
// A run is reproduced in the container in which it was.
func TestReproduceNamesTheContainer(t *testing.T) {
	l := analyzetest.New(t, func(h *session.Header) { h.Sandbox, h.Image, h.ContainerRuntime = "docker", "other", "runsc" })
	l.Begin(analyzetest.Note)
	l.End()
	l.Close()
	if got := l.Judge(analyze.Options{}).Run.Reproduce; !strings.Contains(got, "--sandbox docker --image other --runtime runsc --network") {
		t.Errorf("reproduce %q", got)
	}
}

func TestReproduceIsTheCommand(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	words := []string{"node", "", "two words", "it's", "$(touch owned)", "a\nb\t\x1b[31m", "ü", "\\", "a\\'b\n", "*", "-e"}
	l := analyzetest.New(t, func(h *session.Header) { h.Command = words })
	res := l.Judge(analyze.Options{})
	_, command, ok := strings.Cut(res.Run.Reproduce, " -- ")
	if !ok {
		t.Fatalf("reproduce %q", res.Run.Reproduce)
	}
	out, err := exec.Command(sh, "-c", `printf '%s\0' `+command).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("%s\nis read as %q", command, got)
	}
}
