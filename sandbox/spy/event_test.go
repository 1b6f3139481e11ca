//go:build linux && (amd64 || arm64)

package spy

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// The event's head is laid out here as it is there, and so is a stream's key.
func TestHeadIsTheKernelsSide(t *testing.T) {
	t.Parallel()
	spec, err := loadProgram()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"head": headSize, "key": binary.Size(reassembly.Key{})} {
		var s *btf.Struct
		if err := spec.Types.TypeByName(name, &s); err != nil {
			t.Fatal(err)
		}
		if int(s.Size) != want {
			t.Errorf("%s has %d bytes, not %d", name, s.Size, want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	p := make([]byte, headSize, headSize+3)
	n := binary.NativeEndian
	p[0], p[16] = 1, 2
	n.PutUint32(p[36:], uint32(reassembly.TCP))
	n.PutUint32(p[80:], 3)
	n.PutUint32(p[84:], flagStart|flagFromRead)
	n.PutUint32(p[92:], 77)
	copy(p[112:], "comm")
	c, err := read(append(p, "abc"...))
	if err != nil || c.Key.From[0] != 1 || c.Key.To[0] != 2 || c.Key.Kind != reassembly.TCP || !c.Start || !c.Read || c.Met || c.Process.PID != 77 || c.Process.Comm != "comm" || string(c.Data) != "abc" {
		t.Errorf("%+v, %v", c, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(bytes.Repeat([]byte{1}, headSize+5))
	f.Add(make([]byte, headSize))
	f.Fuzz(func(t *testing.T, p []byte) {
		c, err := read(p)
		if (err == nil) != (c != nil) || c != nil && len(c.Data) > len(p)-headSize {
			t.Errorf("%v, %v", c, err)
		}
	})
}
