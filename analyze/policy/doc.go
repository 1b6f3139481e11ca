// Package policy reads and writes coalmine.yaml: what a user allows and denies
// a server and each of its tools, and which findings are accepted. The judge
// and the gate read the same file.
//
// It must never guess: a word that it does not know is an error with its place,
// and what a policy does not name is not allowed by it.
package policy
