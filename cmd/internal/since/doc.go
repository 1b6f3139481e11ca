// Package since asks git what a change under review changed: what a file held in
// the merge base, and whether a directory is another now.
//
// It must never run what the repository brings (hooks, filters, external diffs),
// write to it, or take what it could not find out for unchanged.
package since
