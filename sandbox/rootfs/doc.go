// Package rootfs builds the directory tree that a local sandbox lives in and
// pivots into it; its File is also what an agent plants in any sandbox.
//
// It must never leave a path of the host writable, nor the old root reachable.
package rootfs
