package sandbox

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestLostPiecesAreCounted(t *testing.T) {
	t.Parallel()
	p := &plainReader{}
	if got := lossOf(p.lost, nil); got != nil {
		t.Errorf("nothing was lost: %+v", got)
	}
	p.lose(2, "no room")
	p.lose(1, "no memory")
	p.lose(3, "no room")
	want := &session.EventLoss{Code: session.GapTLSLost, N: 6, Reason: "no memory (1 times); no room (5 times); TLS reader: x"}
	if diff := cmp.Diff(want, lossOf(p.lost, errors.New("TLS reader: x"))); diff != "" {
		t.Error(diff)
	}
	if got := lossOf(nil, errors.New("TLS reader: x")); got == nil || got.N != 0 {
		t.Errorf("a library that could not be watched: %+v", got)
	}
}
