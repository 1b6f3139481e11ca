// Package wiretap stands between a developer's own client and a server, on
// stdio or as a local proxy: it starts the server, passes everything on, and
// keeps a session log beside the way.
//
// It must never change, hold back or end a session for the log's sake: where
// nothing can be recorded, it says so on stderr and passes everything on.
package wiretap
