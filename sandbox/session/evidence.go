package session

// EvidenceLevel says what a record proves of a message. The words are those of glassport
// 0.8. None of them says that a server did what it was asked.
type EvidenceLevel string

// The levels.
const (
	// EvidenceObserved: the message crossed.
	EvidenceObserved EvidenceLevel = "observed"
	// EvidenceAnalyzed: a detector concludes it from messages that crossed.
	EvidenceAnalyzed EvidenceLevel = "analyzed"
	// EvidenceIntended: a gate that only observes would have blocked the message.
	EvidenceIntended EvidenceLevel = "intended_block"
	// EvidencePolicy: a check of the gate blocked the message.
	EvidencePolicy EvidenceLevel = "blocked_policy"
	// EvidenceGap: the gate blocked the message because it could not check it.
	EvidenceGap EvidenceLevel = "blocked_evidence_gap"
	// EvidenceAdmission: the gate blocked the message because it could not read it.
	EvidenceAdmission EvidenceLevel = "blocked_admission"
	// EvidenceForwarded: the gate let the message pass without a check.
	EvidenceForwarded EvidenceLevel = "forwarded"
	// EvidenceInjected: the gate made the message.
	EvidenceInjected EvidenceLevel = "injected_locally"
)

// Level is what the gate's record proves: Evidence, else what the action says.
func (g *Gate) Level() EvidenceLevel {
	if g.Evidence != "" {
		return g.Evidence
	}
	switch g.Action {
	case "blocked":
		return EvidencePolicy
	case "injected":
		return EvidenceInjected
	case "gate_would_block":
		return EvidenceIntended
	case "gate_skipped", "gate_disabled", "gate_allowed":
		return EvidenceForwarded
	}
	return EvidenceObserved
}
