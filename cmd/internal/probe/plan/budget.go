package plan

import (
	"fmt"
	"time"

	"github.com/coalmine-dev/coalmine/synth"
)

// Budget is how much a probe of one server may do. Calls and not seconds decide
// what is found as long as the machine keeps up: the times are bounds.
type Budget struct {
	// Calls of each tool; oracles' inputs come on top, at most 15 for each.
	Calls int `json:"calls"`
	// Timeout bounds the run, CallTimeout each call, OracleTime the oracles' inputs
	// within the run, and ShrinkTime what comes after it.
	Timeout     time.Duration `json:"timeout"`
	CallTimeout time.Duration `json:"callTimeout"`
	OracleTime  time.Duration `json:"oracleTime"`
	ShrinkTime  time.Duration `json:"shrinkTime"`
	// Idle is how long the server is watched after its last call.
	Idle time.Duration `json:"idle"`
}

// The names of budgets.
const (
	BudgetQuick   = "quick"
	BudgetNightly = "nightly"
)

const (
	nightly = 30 * time.Minute
	// leastBudget is the shortest that can be asked for: for less there are --calls
	// and --timeout.
	leastBudget = time.Minute
	// mostCalls bounds the calls of each tool in a long budget: nothing is drawn by
	// then that was not drawn before.
	mostCalls = 200
)

// ParseBudget reads "quick", "nightly" or a duration of at least a minute.
func ParseBudget(text string) (Budget, error) {
	switch text {
	case BudgetQuick:
		return Budget{Calls: DefaultCalls, Timeout: DefaultTimeout, OracleTime: synth.DefaultOracleTime, ShrinkTime: DefaultShrinkTime}, nil
	case BudgetNightly:
		return lasting(nightly), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastBudget {
		return Budget{}, fmt.Errorf("budget %q is neither quick nor nightly nor a duration of at least %s", text, leastBudget)
	}
	return lasting(d), nil
}

// lasting is a budget that a server of some twenty tools uses up in about d.
func lasting(d time.Duration) Budget {
	calls := min(mostCalls, DefaultCalls*int(min(d/time.Minute, mostCalls)))
	return Budget{Calls: calls, Timeout: max(DefaultTimeout, d), OracleTime: max(synth.DefaultOracleTime, d/2), ShrinkTime: max(DefaultShrinkTime, d/4)}
}

func (b *Budget) fillBudget() {
	if b.Calls <= 0 {
		b.Calls = DefaultCalls
	}
	for p, value := range map[*time.Duration]time.Duration{
		&b.Timeout: DefaultTimeout, &b.CallTimeout: DefaultCallTimeout, &b.OracleTime: synth.DefaultOracleTime,
		&b.ShrinkTime: DefaultShrinkTime, &b.Idle: DefaultIdle,
	} {
		if *p <= 0 {
			*p = value
		}
	}
}
