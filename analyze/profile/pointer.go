package profile

import (
	"encoding/json"
	"strconv"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxPointer bounds what evidence shows of a JSON pointer.
const maxPointer = 200

// pointers say, by a decoy's id, where in a message each of some decoys stands first,
// as " at /result/content/0/text" (RFC 6901). What stands in no single text has none.
func (b *Builder) pointers(raw []byte, hits []canaries.Hit) map[string]string {
	p := pointing{b: b, found: map[string]string{}, wanted: map[string]bool{}}
	for _, h := range hits {
		p.wanted[h.ID] = true
	}
	var message any
	if len(hits) == 0 || json.Unmarshal(raw, &message) != nil {
		return nil
	}
	p.walk(message, "")
	return p.found
}

// pointing is one walk through a message: however many decoys are looked for, each
// text is looked at once.
type pointing struct {
	b      *Builder
	wanted map[string]bool
	found  map[string]string
}

// walk looks into a value until all is found; the decoder bounds the depth.
func (p *pointing) walk(v any, at string) {
	if len(p.wanted) == 0 {
		return
	}
	switch v := v.(type) {
	case string:
		hits, _ := p.b.find.FindBody([]byte(v), nil)
		p.note(hits, at)
	case []any:
		for i, e := range v {
			p.walk(e, at+"/"+strconv.Itoa(i))
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			below := at + "/" + session.EscapePointer(k)
			p.note(p.b.find.Find([]byte(k)), below)
			p.walk(v[k], below)
		}
	}
}

func (p *pointing) note(hits []canaries.Hit, at string) {
	for _, h := range hits {
		if p.wanted[h.ID] {
			delete(p.wanted, h.ID)
			if at != "" {
				p.found[h.ID] = " at " + clip(p.b.find.Redact(at), maxPointer)
			}
		}
	}
}
