// Package carry takes connections across the stream between agent and host, so
// that a sandbox without a network can reach the hosts that its user named: the
// host process dials, and both ends pass on what is said.
//
// It must never dial an address that is not out on the public internet, nor hold
// more than its windows for a side that lies.
package carry
