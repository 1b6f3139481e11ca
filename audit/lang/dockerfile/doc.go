// Package dockerfile splits Dockerfiles into instructions, each with its place and flags.
//
// It follows the reference of the format: parser directives (escape), continued lines with
// comments between them, here-documents, and the exec form. BuildKit's own parser is
// not used: it brings gRPC and containerd's types for its error traces, and its
// instructions know their lines alone.
//
// The package must never build, fetch or expand what it reads, and never panic.
package dockerfile
