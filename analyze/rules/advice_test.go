package rules

import "testing"

func TestEveryRuleHasAdvice(t *testing.T) {
	for _, r := range All() {
		if a := r.Advice; a.Why == "" || a.Fix == "" {
			t.Errorf("%s has no advice", r.ID)
		}
	}
	if cm301.Advice.Tier() != "stable" || cm111.Advice.Tier() != "preview" {
		t.Error("tiers are wrong")
	}
}
