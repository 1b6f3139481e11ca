// Package session is a run's log: the frames that crossed the wire
// (session.jsonl, glassport's format 0.1) and what the tracers saw beside marks
// of the run's own (trace.jsonl), on one clock. It has the words for both: the
// kinds of marks, the agent's events, and the codes of the reasons for doubt.
//
// Judging needs these two files and nothing else. The package must never judge,
// never hold up or fail the run that it records (an error is kept, not raised),
// never follow a link, and never trust a file that it reads.
package session

//go:generate go test -run TestGapsPage . -update
