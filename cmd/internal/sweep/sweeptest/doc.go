// Package sweeptest starts what tests of sweeps need beside the program: a PostgreSQL
// database and a cluster of NATS, as processes of this machine that listen on a socket in a
// directory or on the loopback.
//
// It must never be imported by code that is shipped.
package sweeptest
