package sandbox

import (
	"errors"
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox/carry"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxOutward bounds what waits to be carried into the sandbox.
const maxOutward = 1 << 20

// allow has this process reach the hosts that the Spec allows.
func (r *Run) allow(s *Spec) {
	if s.Network != nil && len(s.Network.Sinkhole.Allow) > 0 {
		r.host = carry.NewHost(s.Network.Sinkhole.Allow, r.answer)
	}
}

// answer queues a payload, and waits while too much is queued.
func (r *Run) answer(p []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.writing && r.waiting > maxOutward {
		r.space.Wait()
	}
	if !r.writing {
		return ErrOver
	}
	r.outward = append(r.outward, p)
	r.waiting += len(p)
	r.wake.Signal()
	return nil
}

// nextOutward takes from the queue, which is not empty.
func (r *Run) nextOutward() mux.Frame {
	p := r.outward[0]
	r.outward = r.outward[1:]
	r.waiting -= len(p)
	r.space.Broadcast()
	return mux.Frame{Stream: mux.Carried, Payload: p}
}

func (r *Run) takeCarried(p []byte) error {
	if r.host == nil {
		return errors.New("the agent sent to a host that nobody allowed")
	}
	if err := r.host.Take(p); err != nil {
		return fmt.Errorf("carry to an allowed host: %w", err)
	}
	return nil
}

// dial answers an agent's wish. Where no host is allowed no agent of ours has one.
func (r *Run) dial(e session.EventDial) {
	if r.host == nil {
		r.lost.Add(1)
		return
	}
	if err := r.host.Dial(e.ID, e.Network, e.Host, e.Port); err != nil {
		r.lost.Add(1)
	}
}

func (r *Run) endDials() {
	if r.host != nil {
		r.host.Close()
	}
}

// Reached lists the attempts to reach allowed hosts, by this process's own word.
// It is complete once the run is over.
func (r *Run) Reached() []carry.Reached {
	if r.host == nil {
		return nil
	}
	return r.host.Reached()
}
