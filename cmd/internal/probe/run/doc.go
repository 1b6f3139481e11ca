// Package run makes one run: a plan goes in, a run directory and Observations come
// out. It starts the sandbox, speaks with the server, drives it and logs all that
// the sandbox yields.
//
// It must never change a plan, judge what it sees, or leave anything of a run behind.
package run
