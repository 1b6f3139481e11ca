// Package listing lists the servers of a registry, of npm's search, or of a file.
//
// A registry is as hostile as a server. The package must never fetch or run what a list
// names, never follow a list to an address inside a network that its user did not name,
// never take a name that a terminal or a path would read otherwise, and never present a
// list as whole that it could not read to its end.
package listing
