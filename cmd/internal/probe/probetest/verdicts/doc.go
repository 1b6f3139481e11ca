// Package verdicts probes the corpus in testdata/verdicts, small servers that attack and
// everyday servers that do not, as a user would, and counts what the program says of them. Half
// of each, chosen by the name's hash, must never be looked at while a rule is made.
package verdicts
