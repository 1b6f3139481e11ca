package analyze

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// building says that the log is that of a package's build: nobody speaks to it,
// and it ends by itself.
func (j *judge) building() bool { return j.header.Phase == session.PhaseBuild }

// packaged says which of the phases before a server's start the run went through.
func (j *judge) packaged(c *Coverage) {
	p := j.header.Package
	if j.building() {
		c.Unreached = nil
		return
	}
	if p == nil {
		return
	}
	before := []finding.Phase{finding.PhaseFetch}
	switch p.Build.State {
	case session.BuildDone, session.BuildFailed:
		before = append(before, finding.PhaseBuild)
	case session.BuildSkipped:
		c.Unreached = append([]finding.Phase{finding.PhaseBuild}, c.Unreached...)
	}
	c.Phases = slices.Concat(before, c.Phases)
}

// asOfFlag takes the same dependencies again.
func asOfFlag(p *session.Package) string {
	if p.AsOf == "" {
		return ""
	}
	return " --as-of " + Quote(p.AsOf)
}

// binFlag names the chosen one of several programs again.
func binFlag(p *session.Package) string {
	if p.Bin == "" {
		return ""
	}
	return " --bin " + Quote(p.Bin)
}
