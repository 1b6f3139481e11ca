// Package plan says what a run is before it happens: a Plan is a value that is
// made from the user's Options, changed only by copying it, and written to the
// run's directory as plan.json.
//
// It must never start a sandbox, call a server or write a file.
package plan
