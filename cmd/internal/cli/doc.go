// Package cli is the command line: flags, exit statuses, errors and hints.
//
// It must never hold what a library could: each command reads its flags, calls
// one function, and prints.
//
//go:generate go test -run TestReference . -update
package cli
