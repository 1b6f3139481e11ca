package session

// Outcome is how a call ended: the What of a MarkReturn.
type Outcome string

// The outcomes.
const (
	// OutcomeOK is a result without isError.
	OutcomeOK Outcome = "ok"
	// OutcomeIsError is a result by which the tool itself reports a failure.
	OutcomeIsError Outcome = "iserror"
	// OutcomeError is a JSON-RPC error or an invalid answer.
	OutcomeError Outcome = "error"
	// OutcomeTimeout is no answer in time.
	OutcomeTimeout Outcome = "timeout"
	// OutcomeCrash is the end of the server.
	OutcomeCrash Outcome = "crash"
	// OutcomeCancelled is a call that was taken back before its answer came.
	OutcomeCancelled Outcome = "cancelled"
)
