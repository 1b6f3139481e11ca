package profile

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
)

// maxPointer bounds what evidence shows of a JSON pointer.
const maxPointer = 200

// pointer says where in a message a decoy stands, as " at /result/content/0/text"
// (RFC 6901). It is "" for what is no JSON, or stands in no single text.
func (b *Builder) pointer(raw []byte, id string) string {
	var message any
	if json.Unmarshal(raw, &message) != nil {
		return ""
	}
	p, ok := b.within(message, id, "")
	if !ok || p == "" {
		return ""
	}
	return " at " + clip(b.find.Redact(p), maxPointer)
}

// within is the pointer to the first text that holds a decoy; the decoder bounds the depth.
func (b *Builder) within(v any, id, at string) (string, bool) {
	switch v := v.(type) {
	case string:
		hits, _ := b.find.FindBody([]byte(v), nil)
		return at, tells(hits, id)
	case []any:
		for i, e := range v {
			if p, ok := b.within(e, id, at+"/"+strconv.Itoa(i)); ok {
				return p, true
			}
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			p := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
			if tells(b.find.Find([]byte(k)), id) {
				return p, true
			}
			if p, ok := b.within(v[k], id, p); ok {
				return p, true
			}
		}
	}
	return "", false
}

func tells(hits []canaries.Hit, id string) bool {
	return slices.ContainsFunc(hits, func(h canaries.Hit) bool { return h.ID == id })
}
