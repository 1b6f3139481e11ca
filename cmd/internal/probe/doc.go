// Package probe takes one target to one Result: it plants, starts a sandbox,
// speaks, drives, stops, judges and writes the run's files.
//
// It must never print, decide an exit status, or leave anything of a run behind.
package probe
