package agent

import (
	"slices"
	"testing"
)

func TestTunnelFrames(t *testing.T) {
	for _, f := range []TunnelFrame{{1, TunnelOpen, EncodePorts([]int{80})}, {1<<32 - 1, TunnelData, []byte("x")}, {7, TunnelEnd, nil}} {
		got, err := DecodeTunnel(f.Encode())
		if err != nil || got.ID != f.ID || got.Op != f.Op || string(got.Data) != string(f.Data) {
			t.Errorf("%+v became %+v, %v", f, got, err)
		}
	}
	if _, err := DecodeTunnel([]byte{1, 2, 3, 4}); err == nil {
		t.Error("a frame without an operation was read")
	}
	want := []int{1, 80, 65535}
	if got := DecodePorts(append(EncodePorts(want), 9)); !slices.Equal(got, want) {
		t.Errorf("ports %v", got)
	}
}
