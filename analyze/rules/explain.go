package rules

import (
	"net/netip"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// explainOther explains what changes no file.
func (r *Run) explainOther(e *finding.Effect) (finding.Explanation, bool) {
	switch e.Kind {
	case finding.Exec:
		return r.explainProgram(e)
	case finding.NetConnect:
		return r.explainConnection(e)
	case finding.NetListen:
		return r.explainListener(e)
	case finding.UnixSocket:
		return r.explainSocket(e)
	case finding.Secret:
		return r.explainSecret(e)
	case finding.Statement:
		return r.explainStatement(e)
	case finding.FileRead:
		return r.explainOpen(e)
	case finding.Tamper:
		t := r.Scope.Tool(e.Tool)
		if strings.HasPrefix(e.Target, "io_uring_") {
			return ordinary("runtime"), true // Node asks for it at every start
		}
		if w := saidWord(&t, endingWords); e.Call > 0 && e.Target == "kill" && w != "" {
			return mention("description", w), true
		}
	}
	return finding.Explanation{}, false
}

// unexplained explains nothing.
var unexplained finding.Explanation

// mention is a word of a declaration that speaks of the object, and promises nothing of it.
func mention(where, word string) finding.Explanation {
	return finding.Explanation{Class: finding.ClassClaim, Where: where, Text: word, Strength: finding.StrengthWeak}
}

// saidWord is the first of some words that a declaration holds, "" for none.
func saidWord(t *scope.Tool, words []string) string {
	if i := slices.IndexFunc(words, t.Says); i >= 0 {
		return words[i]
	}
	return ""
}

// claim is the first claim of some lists.
func claim(lists ...[]scope.Claim) (finding.Explanation, bool) {
	for _, l := range lists {
		if len(l) > 0 {
			return finding.Explanation{Class: finding.ClassClaim, Where: l[0].Where, Text: l[0].Text}, true
		}
	}
	return unexplained, false
}

// explainProgram explains that a program ran.
func (r *Run) explainProgram(e *finding.Effect) (finding.Explanation, bool) {
	name := path.Base(e.Target)
	if r.ownProgram(e) {
		return finding.Explanation{Class: finding.ClassOwn}, true
	}
	if e.Named && !networkPrograms[name] {
		return finding.Explanation{Class: finding.ClassArgument, Text: "command"}, true
	}
	for _, t := range r.whoMayRead(e) {
		if x, ok := claim(t.Exec); ok {
			return x, true
		}
	}
	switch {
	case e.Became, r.remembered().launch(r).programs[e.Target], r.launches(e):
		return finding.Explanation{Class: finding.ClassOrdinary, Text: "launch", Strength: finding.StrengthWeak}, true
	case name == e.Actor && len(e.Argv) == 0: // nothing is known of it
		return finding.Explanation{Class: finding.ClassOrdinary, Text: "runtime", Strength: finding.StrengthWeak}, true
	case e.Call == 0 && isHelper(e.Target):
		return finding.Explanation{Class: finding.ClassOrdinary, Text: "helper", Strength: finding.StrengthWeak}, true
	case e.Phase == finding.PhaseBuild && !networkPrograms[name]:
		return finding.Explanation{Class: finding.ClassDefault, Text: "a build runs programs"}, true
	}
	return r.mentioned(e, name)
}

// launch is how the server was started: the programs, and whether a launcher is among them.
type launch struct {
	programs   map[string]bool
	byLauncher bool
}

func (m *memory) launch(r *Run) *launch {
	if m.launched != nil {
		return m.launched
	}
	m.launched = &launch{programs: map[string]bool{}}
	for i := range r.Profile.Effects {
		if e := &r.Profile.Effects[i]; e.Kind == finding.Exec && e.Noise == "launch" {
			m.launched.programs[e.Target] = true
			words := append([]string{e.Target}, e.Argv[:min(len(e.Argv), 2)]...)
			m.launched.byLauncher = m.launched.byLauncher || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(launchers, unversioned(w)) })
		}
	}
	return m.launched
}

// mentioned is the first of some words that the tool, or the server, mentions in a sentence that
// denies nothing. What is outside of calls may be the work of any tool.
func (r *Run) mentioned(e *finding.Effect, names ...string) (finding.Explanation, bool) {
	for _, s := range r.sentences() {
		if s.denies || e.Tool != "" && !s.owner.Speaks(e.Tool) {
			continue
		}
		if s.place == "name" { // of words that are joined
			s.lower = strings.NewReplacer("-", " ", "_", " ").Replace(s.lower)
		}
		for _, name := range names {
			if name != "" && s.mentions(name) {
				return mention(s.place, name), true
			}
		}
	}
	return unexplained, false
}

// explainConnection explains that an address was reached.
func (r *Run) explainConnection(e *finding.Effect) (finding.Explanation, bool) {
	t := r.Scope.Tool(e.Tool)
	port, local := strings.CutPrefix(e.Target, "loopback:")
	switch {
	case r.asked(e.Call, reached(e)) && reached(e) != "loopback", local && len(port) > 3 && r.asked(e.Call, port):
		return finding.Explanation{Class: finding.ClassArgument}, true
	case local && r.remembered().openedBy(r)[port]:
		return finding.Explanation{Class: finding.ClassOwn}, true
	case local && r.givenHost(port), slices.ContainsFunc(hostsOf(e), r.givenHost):
		return finding.Explanation{Class: finding.ClassArgument, Text: "command"}, true
	case local && isDebugPort(port):
		return r.mentioned(e, port, "debug", "debugs", "debugging", "debugger", "devtools", "inspector", "cdp", "browser", "browsers", "chrome", "chromium", "docker")
	case local:
		if x, ok := claim(t.Network, r.Scope.Purpose.Network); ok {
			x.Strength = finding.StrengthWeak // a network is not this machine
			return x, true
		}
		return r.mentioned(e, slices.Concat([]string{port}, scope.ProgramAt(port).Words, loopbackWords)...)
	case len(r.Scope.Hosts) > 0 && r.permitted(e):
		return claim(r.Scope.Hosts)
	case len(r.Scope.Hosts) > 0:
		return unexplained, false
	case (t.ClaimsLocal() || e.Call == 0 && r.promisedLocal() != nil) && r.closedWorld(e):
		return finding.Explanation{Class: finding.ClassClaim, Where: "annotation", Text: "openWorldHint=false"}, true
	case t.ClaimsLocal():
		return unexplained, false
	}
	return claim(t.Network, r.Scope.Purpose.Network)
}

// debugPorts are those at which browsers and Node.js listen for whoever debugs them, and the Docker
// engine for whoever drives it without TLS.
var debugPorts = []string{"9222", "9223", "9229", "2375"}

func isDebugPort(port string) bool { return slices.Contains(debugPorts, port) }

// openedBy are the ports and the unix sockets that the server opened.
func (m *memory) openedBy(r *Run) map[string]bool {
	if m.opened == nil {
		m.opened = map[string]bool{}
		for i := range r.Profile.Effects {
			if e := &r.Profile.Effects[i]; e.Kind == finding.NetListen && e.Rung == finding.RungOpened {
				m.opened[e.Target[strings.LastIndexByte(e.Target, ':')+1:]] = true
			}
		}
	}
	return m.opened
}

// explainListener explains that a port or a unix socket was opened.
func (r *Run) explainListener(e *finding.Effect) (finding.Explanation, bool) {
	words := listenWords
	if strings.HasPrefix(e.Target, openPipe) {
		words = pipeWords
	} else if name, ok := strings.CutPrefix(e.Target, "unix:"); ok {
		words = slices.Concat(listenWords, loopbackWords)
		if path.IsAbs(name) && (r.isTemporary(name) || r.ownPath(name)) {
			return finding.Explanation{Class: finding.ClassState}, true
		}
	} else if a, err := netip.ParseAddrPort(e.Target); err == nil {
		if r.Port != 0 && (int(a.Port()) == r.Port || a.Addr().IsLoopback()) {
			return ordinary("transport"), true
		}
		if a.Addr().IsLoopback() {
			words = slices.Concat(listenWords, loopbackWords)
		}
	}
	for _, s := range r.whoMayRead(e) {
		if w := saidWord(s, words); w != "" {
			return mention("description", w), true
		}
	}
	return unexplained, false
}

// isTemporary reports whether a path lies in a place for what a program makes and forgets.
func (r *Run) isTemporary(p string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/dev/shm", "/run/user", path.Join(r.Home, ".cache")}, func(dir string) bool { return within(p, dir) })
}

// ownPath reports whether a path is of the server's own: in its directory, or where it keeps its state.
func (r *Run) ownPath(p string) bool {
	return within(p, r.ServerDir) || r.keeps(p) || r.isOwnFile(p) || r.Left[p]
}

// isOwnState reports whether a path lies in a directory of the server's own name in a place for
// programs' state, or is such a place itself, which any program looks into for its own.
func (r *Run) isOwnState(p string) bool {
	below, ok := strings.CutPrefix(p, r.Home+"/")
	if !ok || r.Home == "" {
		return false
	}
	for _, tree := range stateTrees {
		if below == tree || below == path.Dir(tree) {
			return true
		}
		if rest, in := strings.CutPrefix(below, tree+"/"); in {
			first, _, _ := strings.Cut(rest, "/")
			return r.isOwnName(first) && !r.isObeyed(p)
		}
	}
	return false
}

// explainSocket explains that the unix socket of another program was connected to.
func (r *Run) explainSocket(e *finding.Effect) (finding.Explanation, bool) {
	words, what := r.actsForUser(e)
	session := sessionWords(e.Target)
	switch {
	case r.remembered().openedBy(r)[e.Target]:
		return finding.Explanation{Class: finding.ClassOwn}, true
	case r.asked(e.Call, e.Target):
		return finding.Explanation{Class: finding.ClassArgument}, true
	case r.givenHost(e.Target):
		return finding.Explanation{Class: finding.ClassArgument, Text: "command"}, true
	case what != "", session != nil && !slices.Contains(busPrograms, e.Actor):
		for _, s := range r.whoMayRead(e) {
			if i := slices.IndexFunc(append(words, session...), s.Shows); i >= 0 {
				return mention("description", append(words, session...)[i]), true
			}
		}
		return unexplained, false
	case strings.HasSuffix(e.Target, "/bus"), session != nil: // by one of busPrograms
		return ordinary("runtime"), true
	case e.Call > 0 && e.Target == systemLog: // what a call was given may be in it
	case slices.ContainsFunc(systemSockets, func(dir string) bool { return within(e.Target, dir) }):
		return ordinary("system"), true
	}
	return r.mentioned(e, pathWords(e.Target)...)
}

// explainSecret explains that a decoy was opened or came out.
func (r *Run) explainSecret(e *finding.Effect) (finding.Explanation, bool) {
	c, ok := r.Canaries[e.Target]
	switch {
	case e.Owner:
		return ordinary("owner"), true
	case ok && c.Kind == KindGiven && e.Rung == finding.RungLeft && !r.leaks(e): // for its service the user gave it
		return finding.Explanation{Class: finding.ClassArgument, Text: "command"}, true
	case ok && c.Kind == KindMachine && (e.Rung != finding.RungLeft || r.says(e.Tool, identityWords)):
		return ordinary("system"), true
	case !ok || e.Rung == finding.RungLeft:
	case r.wasAsked(e, c):
		return finding.Explanation{Class: finding.ClassArgument}, true
	case r.dealsWith(c, e.Tool):
		return finding.Explanation{Class: finding.ClassClaim, Where: "description", Text: c.Kind}, true
	case r.orderedEnvironment(e, c):
		return finding.Explanation{Class: finding.ClassArgument}, true
	case c.Env != "" && e.Via != viaFile: // a tool may return the environment that it declares to return
		t := r.Scope.Tool(e.Tool)
		return claim(t.Environment)
	}
	return unexplained, false
}

// explainStatement explains what a service was told to do. That the user gave it to the server
// explains what it reads there.
func (r *Run) explainStatement(e *finding.Effect) (finding.Explanation, bool) {
	t := r.Scope.Tool(e.Tool)
	removes := e.Told.Does == trace.StatementDeletes || e.Told.Does == trace.StatementDestroys
	switch {
	case r.callersOwn(e):
		return finding.Explanation{Class: finding.ClassArgument}, !t.ClaimsReadOnly() || e.Told.Does == trace.StatementReads
	case e.Told.Does == trace.StatementMachine:
		w := saidWord(&t, machineWords)
		return mention("description", w), w != ""
	case e.Told.Does == trace.StatementReads:
		return finding.Explanation{Class: finding.ClassArgument, Text: "service"}, true
	case r.ownObject(e):
		return finding.Explanation{Class: finding.ClassOwn}, true
	case e.Tool != "" && t.ClaimsReadOnly(), e.Tool == "" && r.promisesReadOnly():
		return finding.Explanation{Class: finding.ClassState, Text: "cache"}, e.Via == serviceRedis && !removes && !r.held(e)
	case !removes && len(t.Write) == 0 && e.Call > 0:
		return finding.Explanation{Class: finding.ClassDefault, Text: "readOnlyHint"}, true
	}
	for _, s := range r.whoMayRead(e) {
		if w := saidWord(s, removalWords); removes && w != "" {
			return mention("description", w), true
		}
		if x, ok := claim(s.Delete); removes && ok {
			return x, true
		}
		if x, ok := claim(s.Write, s.Delete); !removes && ok {
			return x, true
		}
	}
	return unexplained, false
}

// explainOpen explains that a file was opened that is no runtime's, as its tree tells.
func (r *Run) explainOpen(e *finding.Effect) (finding.Explanation, bool) {
	words, what := r.actsForUser(e)
	switch {
	case e.Call > 0 && r.names(e):
		return finding.Explanation{Class: finding.ClassArgument}, true
	case what != "":
		t := r.Scope.Tool(e.Tool)
		for _, s := range []*scope.Tool{&t, &r.Scope.Purpose} {
			if i := slices.IndexFunc(words, s.Shows); i >= 0 {
				return mention("description", words[i]), true
			}
		}
		return unexplained, false
	case r.ownedBy(e.Actor, e.Target):
		return ordinary("owner"), true
	case isSystem(e.Target):
		return ordinary("system"), true
	case isLibrary(e.Target):
		return finding.Explanation{Class: finding.ClassOrdinary, Text: "runtime", Strength: finding.StrengthWeak}, true
	case within(e.Target, r.ServerDir), r.Left[e.Target], r.remembered().writtenBy(r)[e.Target] != nil:
		return finding.Explanation{Class: finding.ClassOwn}, true
	case r.keeps(e.Target), r.isOwnFile(e.Target), r.isOwnState(e.Target):
		return finding.Explanation{Class: finding.ClassState}, true
	case r.isDocument(e.Target):
		return r.explainRead(e)
	}
	for _, t := range r.whoMayRead(e) {
		if len(t.Shell)+len(t.Code) > 0 {
			return finding.Explanation{Class: finding.ClassClaim, Where: "description", Text: "runs commands"}, true
		}
		if w := saidWord(t, wholeDisk); w != "" {
			return mention("description", w), true
		}
	}
	if r.isPrivate(e.Target) && !within(e.Target, r.Home) {
		return unexplained, false // a word of its path does not speak of another user's file
	}
	return r.mentioned(e, pathWords(strings.TrimPrefix(e.Target, r.Home))...)
}

// writtenBy are the files that were not there before the server made them in this run, with the first writing of each.
func (m *memory) writtenBy(r *Run) map[string]*finding.Effect {
	if m.written == nil {
		m.written = map[string]*finding.Effect{}
		for i := range r.Profile.Effects {
			if e := &r.Profile.Effects[i]; e.Kind == finding.FileWrite && e.Rung == finding.RungOpened && m.written[e.Target] == nil && !r.stood(e.Target) {
				m.written[e.Target] = e
			}
		}
	}
	return m.written
}

// isDocument reports whether a path of the user's is hidden nowhere: then it is one of a
// document, or of a directory of such.
func (r *Run) isDocument(p string) bool {
	return slices.ContainsFunc(r.userDirs(), func(dir string) bool {
		below, ok := strings.CutPrefix(p, dir)
		return ok && within(p, dir) && !strings.Contains(below, "/.")
	})
}

// wholeDisk are the words by which a tool or server declares to look at any file that there is.
var wholeDisk = []string{"files", "folders", "directories", "filesystem", "disk", "disks", "drive", "drives", "storage", "dotfiles", "home", "backup", "backups"}

// pathWords are the words of a path that name a program or a purpose.
func pathWords(p string) []string {
	words := strings.FieldsFunc(p, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return slices.DeleteFunc(words, func(w string) bool { return len(w) < leastStem || slices.Contains(commonWords, w) })
}

// commonWords are parts of paths that say nothing of whose they are.
var commonWords = []string{"config", "local", "share", "state", "cache", "data", "user", "default", "settings", "json", "home", "root", "sock", "socket", "unix", "tmp", "sqlite", "main", "text"}
