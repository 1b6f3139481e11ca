// Package secrets recognises real credentials in files, by name and by content, and
// masks them.
//
// It must never keep, log or return a value to anyone but its caller, and must never
// call a file clean that it has not read to its end.
package secrets
