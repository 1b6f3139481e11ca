package experiment

import (
	"strings"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// furnished starts a server again whose tools refused for want of a file or a directory that they name: a
// user has what the server is for.
var furnished = Experiment{
	Name: "furnished", Role: session.RoleFurther, Stage: StageFurther, Supplies: true, Dir: "furnished",
	Proves: "what tools do that refused for want of a file or a directory, once it is there",
	When:   func(c *Case) bool { return c.Unmade == nil && len(c.Plan.Absent(c.Questions.Places)) > 0 },
	Change: func(p plan.Plan, c *Case) (plan.Plan, error) {
		return p.Furnishing(c.Questions.Places).WithBudget(bounded(p.Budget)), nil
	},
	Progress: func(c *Case) string { return "starting once more, with files at " + furnishedPlaces(c) },
	How:      func(c *Case) string { return "with files at " + furnishedPlaces(c) },
	Lost:     "the further start with the files that the server looked for",
}

// furnishedPlaces names what is there in the further start.
func furnishedPlaces(c *Case) string {
	return strings.Join(c.Plan.Absent(c.Questions.Places), ", ")
}
