package wire

import "encoding/json"

// Asked is a request that waits for its response. One that was answered is valid
// until the next message is fed.
type Asked struct {
	// Seq is the frame of the request, as its Crossing gave it.
	Seq uint64
	// Method is the request's, cut where it is longer than any method's name.
	Method string
	// Tool is the name that a tools/call gave.
	Tool string

	cursor     string // of a request for a list
	hasCursor  bool
	generation int // of the listing that it belongs to, 0 for none
	ambiguous  bool
}

// maxAmbiguous bounds the ids that are remembered as used twice at once.
const maxAmbiguous = 1 << 12

// pairs matches the responses of one direction to the requests of the other.
// Ids are each sender's own, so there is one for each direction.
type pairs struct {
	max       int
	generous  bool
	open      map[key]*Asked
	ambiguous map[key]bool
	// order are the open requests from the oldest on, and answered ones; generous
	// pairs alone keep it.
	order []key
	// full says that requests went unremembered: that a response has none proves
	// nothing then.
	full bool
	free []*Asked
}

func newPairs(max int, generous bool) *pairs {
	return &pairs{max: max, generous: generous, open: map[key]*Asked{}, ambiguous: map[key]bool{}}
}

func (p *pairs) key(id json.RawMessage, exchange string) (key, bool) {
	if p.generous {
		return generousKey(id, exchange)
	}
	return exactKey(id, exchange)
}

// request remembers a request. ok is false for one that is ambiguous, because its
// id is in use, or was in use twice at once before (a late answer could be to
// either), and for one that there is no room for.
func (p *pairs) request(id json.RawMessage, exchange string, a Asked) (asked *Asked, ok bool) {
	k, valid := p.key(id, exchange)
	if !valid {
		return nil, len(id) == 0 || id[0] == 'n'
	}
	if p.generous {
		return p.newest(k, a), true
	}
	if prior := p.open[k]; prior != nil {
		if len(p.ambiguous) < maxAmbiguous {
			p.ambiguous[k] = true
		} else {
			p.full = true
		}
	} else if len(p.open) >= p.max {
		p.full = true
		return nil, false
	}
	a.ambiguous = p.ambiguous[k]
	asked = p.take(a)
	p.open[k] = asked
	return asked, !a.ambiguous
}

// newest remembers a request in the place of one with its id, and of the oldest
// where too many wait.
func (p *pairs) newest(k key, a Asked) *Asked {
	if p.open[k] == nil {
		p.order = append(p.order, k)
	}
	asked := p.take(a)
	p.open[k] = asked
	for len(p.open) > p.max {
		delete(p.open, p.order[0])
		p.order = p.order[1:]
	}
	return asked
}

// response finds the request that is answered, nil for none or an ambiguous one.
// known is false where the id says nothing at all.
func (p *pairs) response(id json.RawMessage, exchange string) (a *Asked, known bool) {
	k, ok := p.key(id, exchange)
	if !ok {
		return nil, false
	}
	a = p.open[k]
	if a != nil {
		delete(p.open, k)
		p.free = append(p.free, a)
		p.tidy()
	}
	if a == nil || a.ambiguous {
		return nil, true
	}
	return a, true
}

// tidy drops what was answered from the order once it outweighs what is open.
func (p *pairs) tidy() {
	if len(p.order) <= 2*len(p.open)+64 {
		return
	}
	kept := p.order[:0]
	for _, k := range p.order {
		if p.open[k] != nil {
			kept = append(kept, k)
		}
	}
	p.order = kept
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

// take reuses what an answered request needed: the answer is over by then.
func (p *pairs) take(a Asked) *Asked {
	var asked *Asked
	if n := len(p.free); n > 0 {
		asked, p.free = p.free[n-1], p.free[:n-1]
	} else {
		asked = new(Asked)
	}
	*asked = a
	return asked
}
