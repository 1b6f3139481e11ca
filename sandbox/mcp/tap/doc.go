// Package tap stands between a client and a server's stdio: bytes pass first
// and untouched, lines are cut out and recorded second.
//
// It must never alter, hold back or parse a byte on its way, and a fault in
// recording must never reach the relay.
package tap
