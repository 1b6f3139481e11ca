// Package audit reads a server's source without running it, and scores what it finds.
//
// It must never execute, import or fetch anything of what it reads.
package audit
