// Package site writes what sweeps found as a static site: an index with a search, a page a
// server with its history and the reports of its run, a feed of new findings, JSON and CSV; and
// compares two sweeps or two versions of a server.
//
// Names and words are a registry's and a server's. The package must never write one into a
// page unescaped, and never let one choose a file's name.
package site
