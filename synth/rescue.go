package synth

import "time"

const (
	// rescueCalls is how often a tool is called again that has only refused, for each
	// ordinary call; maxStuck of them in a row may end in the same words.
	rescueCalls = 2
	maxStuck    = 3
	// rescueTime bounds these calls.
	rescueTime = 15 * time.Second
)

// rescue calls the tools again that have refused every call so far, in turns, as long as
// what they say changes: with arguments corrected as they said, with what other tools
// have answered since, and after the tool that they name.
func (d *driver) rescue() {
	end := d.cfg.Now().Add(rescueTime)
	stuck, said := map[*target]int{}, map[*target]string{}
	for range rescueCalls * d.cfg.Calls {
		for _, t := range order(d.tools) {
			if !d.due(t) || !t.refusesAll() || stuck[t] >= maxStuck {
				continue
			}
			if !d.more() || d.cfg.Now().After(end) {
				return
			}
			d.callBefore(t)
			t.rescued = true
			d.call(t, 1)
			t.rescued = false
			if stuck[t]++; t.said != said[t] || t.retry != nil {
				said[t], stuck[t] = t.said, 0
			}
		}
	}
}

// succeeded says that a target has given an answer that is no error, by its form and by what it says.
func (t *target) succeeded() bool { return t.cover.OK > t.soft }

// refusesAll says that a tool answers at once, and only with errors.
func (t *target) refusesAll() bool {
	return t.cover.Calls > 0 && !t.succeeded() && t.cover.Timeouts == 0 && !t.gone && !t.slow
}
