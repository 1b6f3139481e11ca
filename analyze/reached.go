package analyze

import (
	"encoding/json"
	"fmt"

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
	Network string
	Host    string
	Port    int
	Address string
	Error   string
}

type reachedSum struct{ n, sent, came int64 }

func (r *reached) add(m *session.Mark) {
	var one struct {
		reachedKey
		Sent, Came int64
	}
	if json.Unmarshal(m.Event, &one) != nil {
		r.unread = true
		return
	}
	sum := r.sums[one.reachedKey]
	if sum == nil {
		if len(r.order) == maxReached {
			r.unread = true
			return
		}
		if r.sums == nil {
			r.sums = map[reachedKey]*reachedSum{}
		}
		sum = &reachedSum{}
		r.sums[one.reachedKey] = sum
		r.order = append(r.order, one.reachedKey)
	}
	sum.n, sum.sent, sum.came = sum.n+1, sum.sent+one.Sent, sum.came+one.Came
}

func (r *reached) texts(j *judge) []string {
	var out []string
	for _, k := range r.order {
		sum := r.sums[k]
		text := fmt.Sprintf("%s:%d over %s", k.Host, k.Port, k.Network)
		if k.Address != "" {
			text += fmt.Sprintf(" was reached at %s (%d times; %d bytes there, %d back)", k.Address, sum.n, sum.sent, sum.came)
			if k.Error != "" {
				text += ", until: " + k.Error
			}
		} else {
			text += fmt.Sprintf(" was not reached (%d times): %s", sum.n, k.Error)
		}
		out = append(out, j.say(text, 300))
	}
	if r.unread {
		out = append(out, "… and more, in trace.jsonl")
	}
	return out
}
