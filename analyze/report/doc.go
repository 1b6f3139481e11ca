// Package report shows a Result: to people (text and one HTML page without
// scripts), to programs (JSON, with its schema) and to code scanners (SARIF).
//
// It must never decide, never let a server's words reach a medium unescaped,
// and never print a secret, not even a decoy.
package report

//go:generate go test -run "TestRulesREADME|Golden" . -update
