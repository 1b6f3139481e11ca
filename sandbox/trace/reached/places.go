package reached

import "crypto/sha256"

// Places are those of a program's code that are watched.
type Places struct {
	// Program is its absolute path in the sandbox.
	Program string
	// Table is the digest of its table of functions, and TableAt and TableSize are where in the file
	// that stands: another program has no such places.
	Table              [sha256.Size]byte
	TableAt, TableSize int64
	// Offsets are where in the file the places are. An instruction begins at each.
	Offsets []uint64
}
