package rules

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

func TestOf(t *testing.T) {
	for _, r := range All() {
		if got, ok := Of(r.ID); !ok || got.ID != r.ID {
			t.Errorf("%s is not found", r.ID)
		}
	}
	for _, id := range []string{"", "CM000", "cm101", "tool-poisoning"} {
		if r, ok := Of(id); ok || r.ID != "" || r.Shrink != ShrinkLive {
			t.Errorf("%q is %+v", id, r.Rule)
		}
	}
}

func TestOfObservation(t *testing.T) {
	for name, want := range map[string]string{
		"fabricated_tool_call": "CM405", "surface_change": "CM501", "pii_email_address": "CM411", "pii_in_result_email_address": "CM410",
		"gate_blocked": "CM418", "gat": "", "pii": "", "surface_changes": "", "": "", "*": "",
	} {
		if r, ok := OfObservation(name); r.ID != want || ok != (want != "") {
			t.Errorf("%q is of %q, want %q", name, r.ID, want)
		}
	}
}

// An observation is of one rule alone.
func TestObservationsAreNotShared(t *testing.T) {
	of := map[string]string{}
	for _, r := range All() {
		for _, name := range r.Observations {
			if of[name] != "" {
				t.Errorf("%s is of %s and of %s", name, of[name], r.ID)
			}
			of[name] = r.ID
		}
	}
}

// What only a log of somebody's client shows, no run decides; what a detector says of
// the server, a run does, but for what several logs are needed for.
func TestRunsJudgeServers(t *testing.T) {
	for _, r := range All() {
		switch {
		case r.Check != nil && slices.Contains([]Party{Client, Gate, Analysis}, r.Judges):
			t.Errorf("a run decides %s, which is not about what was run", r.ID)
		case r.Check == nil && r.Judges == Server && !slices.Equal(r.Observations, []string{"tool_shadowing"}):
			t.Errorf("no run decides %s, which is about the server", r.ID)
		case r.Check == nil && (r.Shrink != ShrinkLive || r.NeedsControl):
			t.Errorf("%s says how to shrink what no run shows", r.ID)
		}
	}
}

// A finding that has fingerprints of the version before is of a rule that says so.
func TestPreviousFingerprintsHaveAVersion(t *testing.T) {
	for _, c := range cases {
		r, _ := Of(c.rule)
		if r.Check == nil {
			t.Fatalf("a case of %s, which no run decides", c.rule)
		}
		for _, f := range r.Check(c.run) {
			if (len(f.PreviousFingerprints) > 0) != (r.FingerprintVersion > 1) {
				t.Errorf("%s %s: %q in version %d", c.rule, c.name, f.PreviousFingerprints, r.FingerprintVersion)
			}
			if f.Fingerprints()[0] != f.Fingerprint || slices.Contains(f.PreviousFingerprints, f.Fingerprint) {
				t.Errorf("%s %s: %q", c.rule, c.name, f.Fingerprints())
			}
		}
	}
}

// What a replay made by the version before names is found again.
func TestShownInKnowsTheFingerprintBefore(t *testing.T) {
	run := changedSurface(1)
	f := checkCM501(run)[0]
	for _, p := range f.Fingerprints() {
		if got := ShownIn(run, map[string]string{p: f.Rule}, 1)[p]; !slices.Equal(got, []int{1}) {
			t.Errorf("%s is shown in %v", p, got)
		}
	}
	if got := ShownIn(run, map[string]string{finding.Fingerprint("x"): f.Rule}, 1); len(got) > 0 {
		t.Errorf("another finding is shown in %v", got)
	}
}
