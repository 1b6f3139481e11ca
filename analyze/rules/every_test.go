package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// everyTarget are the kinds of effect with the kinds of target that they have.
var everyTarget = []struct {
	kind    finding.EffectKind
	targets []string
}{
	{finding.FileRead, []string{home + "/.config/other/settings.json", home + "/.bashrc", home + "/Mail/inbox", "/home/erin/notes.txt", "/root/x", "/etc/fstab", "/var/lib/x", "/mnt/x", "/proc/PID/environ", "/etc/shadow", home + "/.config/kit/x"}},
	{finding.FileWrite, []string{home + "/x", home + "/.bashrc", home + "/.config/kit/x", home + "/notes.md", "/data/x", "/etc/x", "/srv/notes/x"}},
	{finding.FileDelete, []string{home + "/x", home + "/.bashrc", home + "/.config/kit/x", home + "/notes.md", "/data/x", "/etc/x", "/srv/notes/x"}},
	{finding.FileMeta, []string{home + "/x", home + "/.bashrc", home + "/.config/kit/x", home + "/notes.md", "/data/x", "/etc/x", "/srv/notes/x"}},
	{finding.Exec, []string{"/usr/bin/curl", "/usr/bin/git", "/bin/sh", "/srv/notes/helper", "/tmp/x"}},
	{finding.NetConnect, []string{"93.184.216.34:443", "dns:api.example", "dns", "10.0.0.9:80", "loopback:5432", "loopback:41000"}},
	{finding.NetListen, []string{"0.0.0.0:8080", "127.0.0.1:8080", "unix:/tmp/x.sock", "unix:" + home + "/x.sock", "unix:@x"}},
	{finding.UnixSocket, []string{"/var/run/docker.sock", "/run/user/1000/bus", "/tmp/.X11-unix/X0", "/var/run/postgresql/.s.PGSQL.5432", "/dev/log", "@x"}},
	{finding.Statement, []string{trace.StatementReads, trace.StatementWrites, trace.StatementDeletes, trace.StatementDestroys, trace.StatementMachine}},
	{finding.Secret, []string{"ssh-key", "env-openai", "dotenv", "npm", "claude", "metadata"}},
	{finding.Tamper, []string{"ptrace", "kill", "unshare", "io_uring_setup", "/proc/PID/root"}},
}

// everyPhase are the phases in which a server does something.
var everyPhase = []finding.Phase{finding.PhaseBuild, finding.PhaseStart, finding.PhaseHandshake, finding.PhaseList, finding.PhaseCall, finding.PhaseCalls, finding.PhaseIdle, finding.PhaseShutdown}

// everyTool are tools by what they declare.
var everyTool = []wire.Tool{
	silent, note,
	described("fetch", "Fetches a web page"), described("run", "Runs shell commands"), described("write_note", "Writes a note to a file and deletes old ones."),
	described("sum", "Never uses git or curl."), closed("Does it."),
}

// TestEveryEffectIsExplainedOrNamed: of each kind of effect, in each phase and on each kind of target, an effect that
// the ledger does not explain is named by a finding.
func TestEveryEffectIsExplainedOrNamed(t *testing.T) {
	holes := map[string][]string{}
	for _, tool := range everyTool {
		for _, phase := range everyPhase {
			for _, k := range everyTarget {
				for _, target := range k.targets {
					for _, rung := range []finding.Rung{finding.RungAttempted, finding.RungOpened, finding.RungRead, finding.RungReturned, finding.RungLeft} {
						if k.kind != finding.Secret && rung.Rank() > finding.RungOpened.Rank() {
							continue
						}
						r := stood(newRun(tool, placedIn(phase, tool.Name, k.kind, target, rung)), home+"/notes.md")
						r.Surface.Server.Name = "kit" // "notes" would speak of notes
						r.Scope = scope.Of(r.Surface)
						if Ledger(r)[0] == nil && len(Check(r)) == 0 {
							hole := fmt.Sprintf("%s %s %s", k.kind, target, rung)
							holes[hole] = append(holes[hole], tool.Name+"/"+string(phase))
						}
					}
				}
			}
		}
	}
	for _, hole := range slices.Sorted(maps.Keys(holes)) {
		t.Errorf("nothing explains or names %s: %s", hole, strings.Join(holes[hole], " "))
	}
}

// placedIn is an effect of a phase.
func placedIn(phase finding.Phase, tool string, kind finding.EffectKind, target string, rung finding.Rung) finding.Effect {
	e := effect(tool, kind, target)
	e.Rung = rung
	if phase != finding.PhaseCall {
		e.Phase, e.Call, e.Tool, e.Ambiguous = phase, 0, "", phase.Unpinned()
	}
	switch {
	case kind == finding.Exec && rung == finding.RungAttempted:
		e.Noise = "absent" // as the profile has it
	case kind == finding.Statement:
		e.Target, e.Via, e.Told = "postgres: X things", "postgres", &trace.Statement{Does: target, Verb: "X", Object: "things", Text: "X things"}
	case kind == finding.Secret && rung == finding.RungLeft:
		e.Host, e.Via = "collect.example", "https"
	}
	return e
}
