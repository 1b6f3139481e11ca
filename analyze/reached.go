package analyze

import (
	"fmt"
	"net/netip"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxReached bounds the hosts that are listed.
const maxReached = 100

// reached adds up what was dialled for the server, by host, port and outcome.
type reached struct {
	order []reachedKey
	sums  map[reachedKey]*reachedSum
	// unread says that a mark could not be read.
	unread bool
}

type reachedKey struct {
	network string
	host    string
	port    int
	address netip.AddrPort
	err     string
}

type reachedSum struct{ n, sent, came int64 }

func (r *reached) add(m *session.Mark) {
	d := m.Dialled
	if d == nil {
		r.unread = true
		return
	}
	key := reachedKey{d.Network, d.Host, d.Port, d.Address, d.Err}
	sum := r.sums[key]
	if sum == nil {
		if len(r.order) == maxReached {
			r.unread = true
			return
		}
		if r.sums == nil {
			r.sums = map[reachedKey]*reachedSum{}
		}
		sum = &reachedSum{}
		r.sums[key] = sum
		r.order = append(r.order, key)
	}
	sum.n, sum.sent, sum.came = sum.n+1, sum.sent+d.Sent, sum.came+d.Came
}

func (r *reached) texts(j *judge) []string {
	var out []string
	for _, k := range r.order {
		sum := r.sums[k]
		text := fmt.Sprintf("%s:%d over %s", k.host, k.port, k.network)
		if k.address.IsValid() {
			text += fmt.Sprintf(" was reached at %s (%d times; %d bytes there, %d back)", k.address, sum.n, sum.sent, sum.came)
			if k.err != "" {
				text += ", until: " + k.err
			}
		} else {
			text += fmt.Sprintf(" was not reached (%d times): %s", sum.n, k.err)
		}
		out = append(out, j.say(text, 300))
	}
	if r.unread {
		out = append(out, "… and more, in trace.jsonl")
	}
	return out
}
