// Package frames is an index of a session log: where each frame stands in the file, which
// method and tool it names, and which request an answer belongs to. The index is built while
// the log is read, and grows with a log that is still written.
//
// The package must never keep the frames themselves, write a file, or trust the log: an
// index of a million frames takes about 40 MB.
package frames
