package rules

import "testing"

func TestEveryRuleHasAdvice(t *testing.T) {
	for _, r := range All() {
		if a := AdviceOf(r.ID); a.Why == "" || a.Fix == "" {
			t.Errorf("%s has no advice", r.ID)
		}
	}
	if AdviceOf("CM301").Tier() != "stable" || AdviceOf("CM111").Tier() != "preview" {
		t.Error("tiers are wrong")
	}
}
