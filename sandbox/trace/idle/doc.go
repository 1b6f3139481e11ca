// Package idle keeps eBPF programs that the kernel has checked and nobody uses, for the next
// who needs such: the check takes a tenth of a second. It must never hand out programs that
// remember what they watched before.
package idle
