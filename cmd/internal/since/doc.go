// Package since compares working files with the merge base of a change under
// review: what a file held there, and whether a directory differs.
//
// The change under review is hostile, and so are the settings of the repository
// around it. The package must never run what the repository brings, read its
// settings, write to it, or take anything for unchanged that it has not compared
// byte by byte.
package since
