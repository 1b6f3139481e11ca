//go:build !unix

package session

// NoFollow is nothing here: os.Root, and a look at what was opened, have to do.
const NoFollow = 0
