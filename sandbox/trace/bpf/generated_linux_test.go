//go:build amd64 || arm64

package bpf

import (
	"testing"

	"github.com/cilium/ebpf/btf"
)

// The event's head is laid out here as it is there.
func TestHeadIsTheKernelsSides(t *testing.T) {
	spec, err := loadProgram()
	if err != nil {
		t.Fatal(err)
	}
	var s *btf.Struct
	if err := spec.Types.TypeByName("head", &s); err != nil {
		t.Fatal(err)
	}
	if s.Size != headSize {
		t.Errorf("%d bytes, not %d", s.Size, headSize)
	}
	if err := spec.Variables["defs"].Get(new([2][nCalls]def)); err != nil {
		t.Error(err)
	}
}
