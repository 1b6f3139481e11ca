package synth

import (
	"errors"
	"slices"
	"time"
)

// errVain says that more calls would come to no more than those that were made.
var errVain = errors.New("no tool answered without an error, and each call took long")

// A drive is in vain where no tool has worked in so many calls, each of which took so long on average, and in so much
// time: its server waits for something that is not there.
const (
	vainCalls = 4
	vainCall  = time.Second
	vainTime  = time.Minute
	// vainOracles is the time that attack inputs have all the same: what is run before it fails shows by them alone.
	vainOracles = 45 * time.Second
)

// afterVain lets a drive in vain go on for the attack inputs.
func (d *driver) afterVain() {
	if !d.vain || !errors.Is(d.stopped, errVain) {
		return
	}
	d.stopped = nil
	if end := d.cfg.Now().Add(vainOracles); d.deadline.IsZero() || end.Before(d.deadline) {
		d.deadline = end
	}
}

func (d *driver) inVain() bool {
	took := d.cfg.Now().Sub(d.start)
	return took > vainTime && d.n >= vainCalls && took > time.Duration(d.n)*vainCall && !slices.ContainsFunc(d.tools, (*target).succeeded)
}
