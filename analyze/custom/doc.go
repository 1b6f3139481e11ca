// Package custom reads, checks and evaluates rules of the user's own: expressions in
// CEL (https://github.com/google/cel-spec) over the entries of a run's ledger, whose
// schema it holds.
//
// A rule's file may be a stranger's, and the entries are a server's. The package must
// never do anything but answer yes or no to an entry: no expression reads a file, the
// clock or the network, runs without a bound, or makes a text that no entry holds. It
// must never take a rule that failed for one that found nothing.
package custom

//go:generate go test -run TestLedgerPage . -update
