package agent

import (
	"slices"
	"testing"
)

// What is read-only, or no file system of the sandbox's own, is not looked at, and of overlays
// that write to the same place one.
func TestWritableFileSystems(t *testing.T) {
	const mounts = `overlay / overlay rw,relatime,lowerdir=.,upperdir=/proc/0/upper 0 0
proc /proc proc rw 0 0
tmpfs /proc/acpi tmpfs ro,relatime 0 0
tmpfs /tmp tmpfs rw,nosuid 0 0
overlay /volume overlay rw,relatime,lowerdir=.,upperdir=/proc/1/upper 0 0
overlay /tmp/volume overlay rw,relatime,lowerdir=.,upperdir=/proc/2/upper 0 0
tmpfs /with\040space tmpfs rw 0 0
/dev/vda /etc/hosts ext4 rw 0 0
broken
`
	for shared, want := range map[bool][]string{
		true:  {"/", "/tmp", "/with space"},
		false: {"/", "/tmp", "/volume", "/tmp/volume", "/with space"},
	} {
		if got := writable(mounts, shared); !slices.Equal(got, want) {
			t.Errorf("shared %v: %q, want %q", shared, got, want)
		}
	}
}
