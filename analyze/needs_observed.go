package analyze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxNamesPerNeed bounds the names of one need.
const maxNamesPerNeed = 5

// observedNeeds are the needs of a tool that answered with errors alone, as the kernel
// and the sinkhole saw them: programs that it tried to run and that are not
// here, and services for which only a stand-in answered.
func (j *judge) observedNeeds(tool string) []Need {
	calls := j.callsOf(tool)
	own := j.ownWords(nil, nil)
	var out []Need
	var names []string
	for _, n := range j.profile.Absent(func(call int) bool { return calls[call] }) {
		if len(names) < maxNamesPerNeed && !slices.Contains(own.command, n) {
			names = append(names, j.say(n, maxNeedName))
		}
	}
	if len(names) > 0 {
		out = append(out, Need{What: NeedProgram, Names: names, Tool: tool, Said: "it tried to run " + strings.Join(names, ", ")})
	}
	if names = j.services(calls); len(names) > 0 {
		out = append(out, Need{What: NeedService, Names: names, Tool: tool, Said: "it asked " + strings.Join(names, ", ")})
	}
	return out
}

// callsOf are the calls of a tool without the inputs of oracles.
func (j *judge) callsOf(tool string) map[int]bool {
	calls := map[int]bool{}
	for i := range j.profile.Calls {
		if c := &j.profile.Calls[i]; c.Tool == tool && c.What == "tool" && len(c.Oracles) == 0 {
			calls[c.N] = true
		}
	}
	return calls
}

// unserved reports whether a tool that answered with errors alone tried a port of this machine on which nothing listened.
func (l *readLog) unserved() bool {
	return slices.ContainsFunc(l.refusing(), func(tool string) bool { return len(l.j.localServices(l.j.callsOf(tool))) > 0 })
}

// refusing are the tools that answered with errors alone, sorted.
func (l *readLog) refusing() []string {
	answered := map[string]bool{}
	for _, c := range l.j.profile.Calls {
		if c.Outcome == session.OutcomeOK && len(c.Oracles) == 0 {
			answered[c.Tool] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(l.w.refusals)), func(tool string) bool { return answered[tool] })
}

// services are the peers outside that the calls asked or tried to reach.
func (j *judge) services(calls map[int]bool) []string {
	var names []string
	add := func(peer string) {
		if isOwnPeer(peer) {
			return
		}
		if peer = j.say(peer, 200); !slices.Contains(names, peer) && len(names) < maxNamesPerNeed {
			names = append(names, peer)
		}
	}
	for i := range j.profile.Calls {
		n := j.profile.Calls[i].N
		if !calls[n] {
			continue
		}
		for _, peer := range j.profile.Asked[n] {
			add(peer)
		}
	}
	for i := range j.profile.Effects {
		e := &j.profile.Effects[i]
		if e.Kind == finding.NetConnect && calls[e.Call] && !strings.HasPrefix(e.Target, "loopback:") && !strings.HasPrefix(e.Target, "dns") {
			add(e.Target)
		}
	}
	if len(names) == 0 {
		return j.localServices(calls)
	}
	return names
}

// localServices are the ports of this machine that the calls tried and on which nothing listened.
func (j *judge) localServices(calls map[int]bool) []string {
	var names []string
	for i := range j.profile.Effects {
		e := &j.profile.Effects[i]
		port, loopback := strings.CutPrefix(e.Target, "loopback:")
		if e.Kind != finding.NetConnect || !calls[e.Call] || !loopback || slices.Contains(localTelemetry, port) || e.Rung != finding.RungAttempted {
			continue
		}
		if name := localService(port); !slices.Contains(names, name) && len(names) < maxNamesPerNeed {
			names = append(names, name)
		}
	}
	return names
}

// reason is the doubt that a need is.
func (n *Need) reason(who string) string {
	names := strings.Join(n.Names, ", ")
	switch n.What {
	case NeedProgram:
		if strings.HasSuffix(n.Names[0], "]") {
			return fmt.Sprintf("%s needs an optional part of a package: %s", who, names)
		}
		return fmt.Sprintf("%s needs a program that the sandbox lacks: %s", who, names)
	case NeedService:
		if flag := serviceFlag(n.Names[0]); flag != "" {
			return fmt.Sprintf("%s needs the service at %s, but none is there (%s runs one)", who, names, flag)
		}
		if strings.HasPrefix(names, "localhost:") {
			return fmt.Sprintf("%s needs the service at %s, but nothing listens there (--network loopback has the sinkhole answer)", who, names)
		}
		return fmt.Sprintf("%s needs the service at %s, but only the sinkhole answered (--network allow=HOST connects to it, --replies FILE simulates it)", who, names)
	}
	what := "a " + n.What
	if names != "" {
		what += " (" + names + ")"
	}
	remedy := ""
	if len(n.Names) > 0 && variable.MatchString(n.Names[0]) {
		remedy = "; --env " + n.Names[0] + "=VALUE passes a dummy value"
	}
	return fmt.Sprintf("%s says that it needs %s: “%s”%s", who, what, n.Said, remedy)
}
