//go:build !unix

package session

// noFollow is nothing here: os.Root and the check before and after opening have to do.
const noFollow = 0
