// Package sweeptest starts what tests of sweeps need beside the program, in containers of
// the Docker engine: a PostgreSQL database, which listens on a socket in a directory, and a
// cluster of NATS, which listens on the loopback.
//
// It must never be imported by code that is shipped.
package sweeptest
