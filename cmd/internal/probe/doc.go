// Package probe takes one target to one Result: it fetches and builds, plans, has
// the runs made, judges their directory and writes the reports.
//
// It must never print, decide an exit status, or leave anything of a run behind.
package probe
