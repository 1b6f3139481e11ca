// Package online asks public services about a package that was audited: OSV for known
// vulnerabilities, npm and PyPI for its history and its provenance.
//
// It asks through an Asker and reads nothing else. All that comes back is hostile: it is bounded,
// and made printable before it is shown. The package must never fetch or run what an answer
// names, and never say of a question without an answer that there is nothing. It compares the
// statements of attestations, and does not verify their signatures.
package online
