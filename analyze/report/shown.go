package report

import (
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ShownLine says in one line what of the host is shown: "PATH as PLACE (server; …)".
func ShownLine(s session.Shown) string {
	line := s.Path
	if s.As != "" {
		line += " as " + s.As
	}
	line += " (" + s.Why
	if s.Masked > 0 {
		line += "; secrets masked in " + plural(s.Masked, "file")
	}
	if s.Hidden > 0 {
		line += fmt.Sprintf("; %d hidden, %d of them not tracked by git", s.Hidden, s.Untracked)
	}
	return Escape(line+")", 1000)
}
