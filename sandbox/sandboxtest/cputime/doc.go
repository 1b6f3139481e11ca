// Package cputime reads what a benchmark has used of the processors: on a shared
// machine the wall clock says little about a processor's work. The program itself
// must never import it.
package cputime
