// Package shown decides what of the host a run shows to the server: which directories
// may be shown at all, which of their files git tracks, and which hold secrets.
//
// It must never follow a link out of the directory that it reads, run anything that the
// directory names, or call a directory searched unless it has read everything.
package shown
