// Package egress reaches the hosts that a run's user allowed, for a sandbox that has
// no network: the host process dials, and relays what is said over a mux.Conn.
//
// It must never dial an address that is not out on the public internet, nor a host
// that is not on the list, nor tell the sandbox an address of this machine's.
package egress
