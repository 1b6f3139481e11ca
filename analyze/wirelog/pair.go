package wirelog

import (
	"encoding/json"
)

// The bounds of what is remembered of a session.
const (
	maxPending   = 1 << 16
	maxAmbiguous = 1 << 12
	maxIDText    = 1 << 10
	maxName      = 1 << 10
)

// key is a request's id: the number 1 and the string "1" are two.
// Callers of a server without sessions share a log and count each for themselves.
type key struct {
	n        int64
	s        string
	exchange string
}

// keyOf reads an id; ok is false for one that pairs nothing.
func keyOf(id json.RawMessage, exchange string) (k key, ok bool) {
	if len(id) == 0 || id[0] == 'n' || len(id) > maxIDText {
		return key{}, false
	}
	if n, ok := small(id); ok {
		return key{n: n, exchange: exchange}, true
	}
	switch c := id[0]; {
	case c == '"', c == '-', c >= '0' && c <= '9':
		return key{s: string(id), exchange: exchange}, true
	}
	return key{}, false
}

// small reads the ids that clients count.
func small(id json.RawMessage) (n int64, ok bool) {
	if len(id) > 18 {
		return 0, false
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	// 007 and 7 would share a number; only one of them is JSON.
	return n, id[0] != '0' || len(id) == 1
}

// pairs matches the responses of one direction to the requests of the other.
// Ids are each sender's own, so there is one for each direction.
type pairs struct {
	open      map[key]*Asked
	ambiguous map[key]bool
	// full says that requests went unremembered: an orphan proves nothing now.
	full bool
	free []*Asked
}

func newPairs() *pairs { return &pairs{open: map[key]*Asked{}, ambiguous: map[key]bool{}} }

// request remembers a request. It is ambiguous when its id is in use, or was in
// use twice at once before: a late answer could be to either.
func (p *pairs) request(id json.RawMessage, exchange string, a Asked) (asked *Asked, ok bool) {
	k, valid := keyOf(id, exchange)
	if !valid {
		return nil, len(id) == 0 || id[0] == 'n'
	}
	if prior := p.open[k]; prior != nil {
		if len(p.ambiguous) < maxAmbiguous {
			p.ambiguous[k] = true
		} else {
			p.full = true
		}
	} else if len(p.open) >= maxPending {
		p.full = true
		return nil, false
	}
	a.ambiguous = p.ambiguous[k]
	asked = p.take()
	*asked = a
	p.open[k] = asked
	return asked, !a.ambiguous
}

// response finds the request that is answered, nil for none or an ambiguous one.
// known is false where the id says nothing at all.
func (p *pairs) response(id json.RawMessage, exchange string) (a *Asked, known bool) {
	k, ok := keyOf(id, exchange)
	if !ok {
		return nil, false
	}
	a = p.open[k]
	if a != nil {
		delete(p.open, k)
		p.free = append(p.free, a)
	}
	if a == nil || a.ambiguous {
		return nil, true
	}
	return a, true
}

// end forgets what an exchange left unanswered: its answers could come on it alone.
func (p *pairs) end(exchange string) {
	for k := range p.open {
		if k.exchange == exchange {
			delete(p.open, k)
		}
	}
	for k := range p.ambiguous {
		if k.exchange == exchange {
			delete(p.ambiguous, k)
		}
	}
}

// take reuses what an answered request needed; the answer's event is over by then.
func (p *pairs) take() *Asked {
	if n := len(p.free); n > 0 {
		a := p.free[n-1]
		p.free = p.free[:n-1]
		return a
	}
	return new(Asked)
}
