package profile

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
)

// maxParts bounds the parts in which one view is searched again.
const maxParts = 4096

// inCall is a decoy as one call sent it.
type inCall struct {
	id   string
	call int
}

// sightings are what is in a view: as a whole, where a decoy is told once, and in the
// parts that calls sent of it. A connection that is kept serves many calls, and
// each that sends a decoy is to be told.
func (b *Builder) sightings(f *flow, v *view) []canaries.Sighting {
	whole := v.scan.Sightings()
	ends := b.parts(v)
	if len(whole) == 0 || len(ends) < 2 {
		return whole
	}
	// A part may begin in the middle of a request, where no credential is known
	// for one: what was only ever used is told with the whole alone.
	left := map[string]bool{}
	for _, s := range whole {
		left[s.ID] = left[s.ID] || s.Used == ""
	}
	out, from := slices.Clip(whole), int64(0)
	for _, to := range ends {
		for _, s := range b.find.Sightings(canaries.Flow{Host: f.known.Host, SNI: f.known.SNI, TLS: f.known.TLS}, v.data[from:to]) {
			if s.Offset += from; left[s.ID] && s.Used == "" && !slices.Contains(whole, s) {
				out = append(out, s)
			}
		}
		from = to
	}
	return out
}

// parts are the ends of what each interval of the run sent in a view.
func (b *Builder) parts(v *view) []int64 {
	var ends []int64
	var now time.Duration
	for i, m := range v.at {
		if began := b.intervalAt(m.time).at; i == 0 || began != now {
			if i > 0 && len(ends) < maxParts {
				ends = append(ends, m.offset)
			}
			now = began
		}
	}
	return append(ends, int64(len(v.data)))
}
