// Package detect judges what crossed one wire: calls of tools that were never
// declared, arguments against their schema, requests that nobody granted,
// secrets in either direction, text that speaks to the model. Its names and
// severities are glassport's; DIFFERENCES.md says where its answers are not.
//
// Every annotation must be provable from the frames of the log, or be coalmine spy's own line in it. The package
// must never quote a secret, never let one detector's failure stop another, and
// never keep more than a bounded state of a session.
package detect
