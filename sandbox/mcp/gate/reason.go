package gate

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Reason is a refusal's reason for programs. The codes that glassport 0.8 has too are the
// same there. They stay what they are; new ones may come.
type Reason string

// The reasons.
const (
	// ReasonUndeclared: the tool is not in the newest complete list.
	ReasonUndeclared Reason = "gate_blocked"
	// ReasonSchema: the arguments are not what the tool declares.
	ReasonSchema Reason = "schema_violation"
	// ReasonSecret: the arguments, or a result, hold a secret.
	ReasonSecret Reason = "pii_exfiltration"
	// ReasonTaint: a text has marks by which models tell who speaks.
	ReasonTaint Reason = "taint_detected"
	// ReasonLoop: the same call came too often within LoopWindow.
	ReasonLoop Reason = "retry_loop_exceeded"
	// ReasonPolicy: the policy does not allow the tool or an argument.
	ReasonPolicy Reason = "policy_denied"
	// ReasonLock: the declaration is not as it was locked.
	ReasonLock Reason = "lock_mismatch"
	// ReasonNoList: nobody knows what is declared, and the gate fails closed.
	ReasonNoList Reason = "no_surface"
	// ReasonUnread: the message cannot be read in one way only.
	ReasonUnread Reason = "unreadable"
	// ReasonBatch: another call of the same batch is refused.
	ReasonBatch Reason = "batch_blocked"
	// ReasonScope: the request names no session and no caller.
	ReasonScope Reason = "http_unproven_scope"
)

// evidence is what a record of a message that is blocked for this reason proves.
func (r Reason) evidence() session.EvidenceLevel {
	switch r {
	case ReasonUnread:
		return session.EvidenceAdmission
	case ReasonNoList, ReasonScope:
		return session.EvidenceGap
	}
	return session.EvidencePolicy
}

// maxSuggested bounds the tools that a suggestion names.
const maxSuggested = 20

// suggestion is what a client can do about a refusal, in one sentence. It holds names of
// declared tools and nothing that the client or a secret pattern brought.
func (r *refusal) suggestion() string {
	switch r.code {
	case ReasonUndeclared:
		if len(r.declared) == 0 {
			return "The server declares no tools."
		}
		names := r.declared[:min(len(r.declared), maxSuggested)]
		return "Call one of the declared tools: " + strings.Join(names, ", ")
	case ReasonSchema:
		return "Change the arguments to match the tool's inputSchema."
	case ReasonSecret:
		return "Remove the credential or the personal data from the arguments."
	case ReasonTaint:
		return "Remove the role markers from the arguments."
	case ReasonLoop:
		return fmt.Sprintf("Wait %v, or change the arguments.", LoopWindow)
	case ReasonPolicy:
		return "Ask the user to allow the call in coalmine.yaml."
	case ReasonLock:
		return "Ask the user to review the new declaration and to run coalmine lock again."
	case ReasonNoList:
		return "Send tools/list, read all of its pages, and call the tool again."
	case ReasonUnread:
		return "Send one well-formed JSON-RPC message."
	case ReasonScope:
		return "Send credentials, the header of --scope-header or Mcp-Session-Id with the call."
	case ReasonBatch:
		return "Send each call as its own message."
	}
	return ""
}
