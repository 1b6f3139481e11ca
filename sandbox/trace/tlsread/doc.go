// Package tlsread reads what programs hand to their TLS libraries, before it is
// encrypted, by eBPF programs on the libraries' functions (uprobes).
//
// It knows OpenSSL and BoringSSL, as a shared library or linked into a program that
// exports their functions, GnuTLS, and crypto/tls of Go from 1.17 on. A Reader is told
// of files that processes run or map; where one holds such functions, they are watched
// in every process that maps it, from then on. Each connection is tied to its TCP
// socket by the first TLS record that its task writes.
//
// It does not see rustls, Java, Schannel, NSS, QUIC, a library without a table of its
// functions' names, or a program that brings its own TLS. Who writes through a
// connection that was there before its library was watched is told apart (Piece.Whole).
//
// It needs Linux 5.17, CAP_BPF and CAP_PERFMON, and no sandbox. A process that looks at its own memory
// can tell that it is watched: probes are breakpoints in its code.
//
// It must never trust a file or memory of a process's: both are bounded. It must never
// follow a link out of a process's root directory, change anything of the machine that
// outlives its process, or lose a piece silently.
package tlsread
