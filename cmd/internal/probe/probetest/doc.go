// Package probetest is the laboratory of the end-to-end tests: it probes servers in
// real sandboxes, in directories of their own, and checks that nothing remains of a
// run. The tests stand in packages below it, so that they run side by side. The
// program itself must never import it.
package probetest
