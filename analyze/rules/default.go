package rules

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// place says whose the object of an effect is.
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
	// placeOthers is what other programs or other users keep.
	placeOthers  place = "settings of other programs, a file of another user"
	placeProgram place = "a program"
	placeHost    place = "a host"
	placePort    place = "a port of this machine"
	placeSocket  place = "a unix socket"
	placeService place = "a service"
	placeKernel  place = "another process, the kernel"
	placeSecret  place = "a credential"
)

// deed is what was done.
type deed string

// The deeds, as messages say them.
const (
	actChanged deed = "changed"
	actOpened  deed = "opened"
	actRan     deed = "ran"
	actReached deed = "reached"
	actListens deed = "listens on"
	actTold    deed = "changed rows of"
	actTouched deed = "touched"
)

// severities are the severities of what nothing explains, by its place, what was done and whether
// it fell into a call. against is that of an effect outside of calls where every tool, or the
// server, promises that there is none: a promise holds in each phase.
var severities = []struct {
	place                      place
	deed                       deed
	inCall, elsewhere, against finding.Severity
}{
	{placeObeyed, actChanged, finding.High, finding.High, finding.High},
	{placeUser, actChanged, finding.Medium, finding.High, finding.High},
	{placeNew, actChanged, finding.Low, finding.Low, finding.Medium},
	{placeHome, actOpened, finding.High, finding.High, finding.High},
	{placeFolder, actOpened, finding.Medium, finding.Medium, finding.Medium},
	{placeSeveral, actOpened, finding.Medium, finding.Medium, finding.Medium},
	{placeWorkspace, actOpened, finding.Low, finding.Low, finding.Low},
	{placeOthers, actOpened, finding.Low, finding.Low, finding.Low},
	{placeSecret, actOpened, finding.Low, finding.Low, finding.Low},
	{placeProgram, actRan, finding.Low, finding.Low, finding.Medium},
	{placeHost, actReached, finding.Low, finding.Low, finding.High},
	{placePort, actReached, finding.Low, finding.Low, finding.Low},
	{placePort, actListens, finding.Low, finding.Low, finding.Low},
	{placeSocket, actReached, finding.Low, finding.Low, finding.Low},
	{placeSocket, actListens, finding.Low, finding.Low, finding.Low},
	{placeService, actTold, finding.Low, finding.Low, finding.Medium},
	{placeKernel, actTouched, finding.Low, finding.Low, finding.Low},
}

// severity looks up what an unexplained effect comes to.
func (r *Run) severity(e *finding.Effect, at place, did deed) finding.Severity {
	for _, s := range severities {
		switch {
		case s.place != at || s.deed != did:
		case e.Call > 0:
			return s.inCall
		case r.promised(e, did) != nil:
			return s.against
		default:
			return s.elsewhere
		}
	}
	return finding.Low
}

// severityTable writes the rows of some deeds for the help of a rule.
func severityTable(of ...deed) string {
	var b strings.Builder
	b.WriteString("\n\n| what | was | in a call | outside of calls | against a promise |\n|---|---|---|---|---|\n")
	for _, s := range severities {
		if slices.Contains(of, s.deed) {
			b.WriteString("| " + string(s.place) + " | " + string(s.deed) + " | " + string(s.inCall) + " | " + string(s.elsewhere) + " | " + string(s.against) + " |\n")
		}
	}
	return b.String() + "\n"
}

// promised is the promise that an effect outside of calls breaks: one that every tool gives, or
// the server. It is nil for none.
func (r *Run) promised(e *finding.Effect, did deed) *scope.Claim {
	switch did {
	case actChanged, actTold:
		if r.promisesReadOnly() {
			return &scope.Claim{Where: "annotation", Text: "readOnlyHint=true"}
		}
		if did == actChanged {
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
	}
	return nil
}

// restricts are the words by which a claim to work in a directory promises to go nowhere else.
var restricts = regexp.MustCompile(`allowed|permitted|sandboxed|relative to|confined|restricted|limited|within|inside`)

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

// deedOn says where an effect that is no change belongs in the table.
func deedOn(e *finding.Effect) (place, deed) {
	switch e.Kind {
	case finding.Exec:
		return placeProgram, actRan
	case finding.NetConnect:
		if leaving(e) {
			return placeHost, actReached
		}
		return placePort, actReached
	case finding.NetListen:
		if strings.HasPrefix(e.Target, "unix:") {
			return placeSocket, actListens
		}
		return placePort, actListens
	case finding.UnixSocket:
		return placeSocket, actReached
	case finding.Statement:
		return placeService, actTold
	case finding.Tamper:
		return placeKernel, actTouched
	case finding.Secret:
		return placeSecret, actOpened
	}
	return placeOthers, actOpened
}
