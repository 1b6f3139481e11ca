package rules

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// place says whose the object of an effect is, or what of it makes harm.
type place string

// The places.
const (
	// placeObeyed is what other programs start or obey.
	placeObeyed place = "a file that other programs execute or trust"
	// placeUser is a file of the user's that stood there before the server started.
	placeUser place = "an existing file of the user"
	// placeNew is a file that the server made.
	placeNew place = "a new file"
	// placeHome and placeFolder are a document of the user's in HOME, and a directory that holds some.
	placeHome   place = "a document in HOME"
	placeFolder place = "a directory of documents in HOME"
	// placeSeveral and placeWorkspace are documents of a workspace, where servers are expected to work.
	placeSeveral   place = "three or more documents of a workspace"
	placeWorkspace place = "a document of a workspace"
	// placePrivate is what people write to each other or look at, and what another user keeps.
	placePrivate place = "mail, messages, a browser's profile, a file of another user"
	// placeOthers is what other programs keep.
	placeOthers place = "settings or data of other programs"
	// placeSecret and placeSecretOut are a decoy that was opened, and one whose value came out.
	placeSecret    place = "a credential"
	placeSecretOut place = "the value of a credential"
	placeProgram   place = "a program"
	// placeTalker is a program whose purpose is the network, of a server that declares no network.
	placeTalker place = "a program for the network"
	placeHost   place = "a host"
	// placeCopied is a host that was sent what the call was given.
	placeCopied place = "a host that got the call's arguments"
	placePort   place = "a port of this machine"
	placeOpen   place = "a port for other machines"
	placeSocket place = "a unix socket"
	// placeSession is a socket, or a debugger's port, by which a program sees, types or has run whatever the user could.
	placeSession place = "a socket or a debugger's port that controls the user's session, browser or machine"
	placeService place = "a service's data"
	placeHeld    place = "a service's data from before the run"
	placeKernel  place = "another process, the kernel"
)

// deed is what was done.
type deed string

// The deeds, as messages say them.
const (
	actChanged deed = "changed"
	actOpened  deed = "opened"
	actGave    deed = "gave away"
	actRan     deed = "ran"
	actReached deed = "reached"
	actListens deed = "listens on"
	actTold    deed = "changed"
	actRemoved deed = "removed"
	actTouched deed = "touched"
)

// severities are the severities of what nothing explains, by its place, what was done and when.
// promise is that of an effect, whenever it comes, against which every tool or the server speaks: a
// promise holds in each phase. What harms the user by itself is medium at least: it reads what is
// private, changes what others obey, takes data away, or lets others in. All else is low.
var severities = []struct {
	place                           place
	deed                            deed
	inCall, outside, build, promise finding.Severity
}{
	{placeObeyed, actChanged, finding.High, finding.High, finding.High, finding.High},
	{placeUser, actChanged, finding.Medium, finding.High, finding.High, finding.High},
	{placeNew, actChanged, finding.Low, finding.Low, finding.Low, finding.Medium},
	{placeHome, actOpened, finding.High, finding.High, finding.High, finding.High},
	{placeFolder, actOpened, finding.Medium, finding.Medium, finding.Medium, finding.Medium},
	{placeSeveral, actOpened, finding.Medium, finding.Medium, finding.Medium, finding.Medium},
	{placeWorkspace, actOpened, finding.Low, finding.Low, finding.Low, finding.Low},
	{placePrivate, actOpened, finding.Medium, finding.Medium, finding.Medium, finding.Medium},
	{placeOthers, actOpened, finding.Low, finding.Low, finding.Low, finding.Low},
	{placeSecret, actOpened, finding.Low, finding.Low, finding.Low, finding.Low},
	{placeSecretOut, actGave, finding.High, finding.High, finding.High, finding.High},
	{placeProgram, actRan, finding.Low, finding.Low, finding.Low, finding.Low},
	{placeTalker, actRan, finding.Medium, finding.Medium, finding.Low, finding.Medium},
	{placeHost, actReached, finding.Low, finding.Low, finding.Low, finding.High},
	{placeCopied, actReached, finding.Medium, finding.Medium, finding.Medium, finding.High},
	{placePort, actReached, finding.Low, finding.Low, finding.Low, finding.Low},
	{placePort, actListens, finding.Low, finding.Low, finding.Low, finding.Low},
	{placeOpen, actListens, finding.High, finding.High, finding.High, finding.High},
	{placeSocket, actReached, finding.Low, finding.Low, finding.Low, finding.Low},
	{placeSession, actReached, finding.Medium, finding.Medium, finding.Medium, finding.Medium},
	{placeSocket, actListens, finding.Low, finding.Low, finding.Low, finding.Low},
	{placeService, actTold, finding.Low, finding.Low, finding.Low, finding.Medium},
	{placeHeld, actRemoved, finding.Medium, finding.Medium, finding.Medium, finding.High},
	{placeKernel, actTouched, finding.Medium, finding.Medium, finding.Medium, finding.Medium},
}

// severity looks up what an unexplained effect comes to.
func (r *Run) severity(e *finding.Effect, at place, did deed) finding.Severity {
	for _, s := range severities {
		switch {
		case s.place != at || s.deed != did:
		case r.promised(e, did) != nil:
			return s.promise
		case e.Phase == finding.PhaseBuild:
			return s.build
		case e.Call > 0:
			return s.inCall
		default:
			return s.outside
		}
	}
	return finding.Low
}

// severityTable writes the rows of some deeds for the help of a rule.
func severityTable(of ...deed) string {
	var b strings.Builder
	b.WriteString("\n\n| what | was | in a call | outside of calls | in a build | against a promise |\n|---|---|---|---|---|---|\n")
	for _, s := range severities {
		if slices.Contains(of, s.deed) && (s.place != placeService && s.place != placeHeld || slices.Contains(of, actRemoved)) {
			was := map[deed]string{actListens: "listened on", actGave: "given away"}[s.deed]
			b.WriteString("| " + string(s.place) + " | " + cmp.Or(was, string(s.deed)) + " | " + string(s.inCall) + " | " + string(s.outside) + " | " + string(s.build) + " | " + string(s.promise) + " |\n")
		}
	}
	return b.String() + "\n"
}

// promised is the promise that an effect breaks, and that every tool gives, or the server: then no
// call is the reason of it. A build is no tool's work. It is nil for none.
func (r *Run) promised(e *finding.Effect, did deed) *scope.Claim {
	if e.Phase == finding.PhaseBuild {
		return nil
	}
	switch did {
	case actChanged, actRemoved:
		if r.promisesReadOnly() {
			return &scope.Claim{Where: "annotation", Text: "readOnlyHint=true"}
		}
		if isChange(e.Kind) {
			return r.confinedAway(e)
		}
	case actReached:
		if leaving(e) {
			return r.promisedLocal()
		}
	case actRan:
		if networkPrograms[path.Base(e.Target)] && !asksVersion(e.Argv) {
			return r.promisedLocal()
		}
	case actListens:
		if at, _ := r.deedOn(e); at == placeOpen {
			return r.promisedOffline()
		}
	}
	return nil
}

// promisedOffline is promisedLocal where words say so, or a list of permissions: the annotation alone
// promises a closed world, in which others may call.
func (r *Run) promisedOffline() *scope.Claim {
	c := r.promisedLocal()
	if c == nil || len(r.Scope.Offline) > 0 {
		return c
	}
	for i := range r.Scope.Tools {
		said := slices.IndexFunc(r.Scope.Tools[i].Local, func(c scope.Claim) bool { return c.Where != "annotation" })
		if said < 0 {
			return nil
		}
		c = &r.Scope.Tools[i].Local[said]
	}
	return c
}

// restricts are the words by which a claim to work in a directory promises to go nowhere else.
var restricts = lazyregexp.New(`allowed|permitted|sandboxed|relative to|confined|restricted|limited|within|inside`)

// promisedConfined is the promise of a tool, of the server, or of every tool where none is known, to
// stay in a directory. It is nil for none.
func (r *Run) promisedConfined(tool string) *scope.Claim {
	of := func(t *scope.Tool) *scope.Claim {
		i := slices.IndexFunc(t.Confined, func(c scope.Claim) bool { return restricts.MatchString(c.Text) })
		if i < 0 {
			return nil
		}
		return &t.Confined[i]
	}
	c := of(&r.Scope.Purpose)
	if t := r.Scope.Tool(tool); c != nil || tool != "" {
		return cmp.Or(c, of(&t))
	}
	for i := range r.Scope.Tools {
		if c = of(&r.Scope.Tools[i]); c == nil {
			return nil
		}
	}
	return c
}

// confinedAway is the promise to stay in a directory where an effect is on a file of HOME that no
// workspace, no argument of the command and no place of the server's own holds, nil for none.
func (r *Run) confinedAway(e *finding.Effect) *scope.Claim {
	if !within(e.Target, r.Home) || r.inAWorkspace(e.Target) || r.ownPath(e.Target) || r.isOwnState(e.Target) || r.isTemporary(e.Target) {
		return nil
	}
	for _, g := range r.Given {
		if rest, ok := strings.CutPrefix(g, "~"); ok {
			g = r.Home + rest
		}
		if path.IsAbs(g) && within(e.Target, path.Clean(g)) {
			return nil
		}
	}
	return r.promisedConfined(e.Tool)
}
