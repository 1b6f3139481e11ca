// Package inplace makes the container that coalmine itself runs in the sandbox:
// inside docker run namespaces are forbidden, so there is no other.
//
// It must never start anything where the container has a network, or where what
// it plants could outlive the run.
package inplace
