// Package opaque finds what looks like the output of a cipher, a hash or a generator of
// random numbers: bytes, and runs of hexadecimal, base 32 or base 64 that decode to such.
//
// Whoever encrypts what was stolen sends something like this, and so do honest programs. The
// package only finds it. It must never say what it means.
package opaque
