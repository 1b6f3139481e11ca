package synth

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxResized bounds the length that a list is brought to, and maxNested how deep lists are looked for.
const (
	maxResized = 100
	maxNested  = 8
)

// counted are refusals of a list for its length. The groups "have" and "want" are the lengths.
var counted = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)\b(?P<have>\d{1,4})\b[^\d\n]{1,60}(?:\b(?:does not|doesn't|must|should) (?:match|equal)|\bdiffers? from|\bnot equal|!=)[^\d\n]{0,60}\b(?P<want>\d{1,4})\b`),
	lazyregexp.New(`(?i)\b(?:expect(?:s|ed|ing)?|needs?|requires?|must have|should have)\b[^\d\n]{0,40}\b(?P<want>\d{1,4})\b[^\d\n]{1,60}\b(?:got|received|found|given|was|were|have|has)\b[^\d\n]{0,30}\b(?P<have>\d{1,4})\b`),
	lazyregexp.New(`(?i)\b(?:got|received|found|given|has|have)\b[^\d\n]{0,30}\b(?P<have>\d{1,4})\b[^\d\n]{1,60}\b(?:expect(?:s|ed|ing)?|needs?|requires?|must be|should be)\b[^\d\n]{0,40}\b(?P<want>\d{1,4})\b`),
}

// resized gives the lists of the arguments the length that a refusal asks for, where it names the one
// that they have: the outermost of these, and all beside it. nil is for nothing asked.
func (l *learner) resized(args json.RawMessage, text string) json.RawMessage {
	if len(text) > 4096 {
		return nil
	}
	for _, re := range counted {
		m := re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		have, err := strconv.Atoi(m[re.SubexpIndex("have")])
		want, wantErr := strconv.Atoi(m[re.SubexpIndex("want")])
		if err != nil || wantErr != nil || have < 1 || want > maxResized || have == want {
			return nil
		}
		var given any
		d := json.NewDecoder(bytes.NewReader(args))
		d.UseNumber()
		if d.Decode(&given) != nil {
			return nil
		}
		for depth := 1; depth <= maxNested; depth++ {
			if next, ok := resizedAt(given, depth, have, want); ok {
				out, err := json.Marshal(next)
				if err != nil || len(out) > 2*maxResized*len(args) {
					return nil
				}
				return out
			}
		}
	}
	return nil
}

// resizedAt is a value in which each list of a length that stands so deep has another length. ok says that there is one.
func resizedAt(v any, depth, have, want int) (out any, ok bool) {
	list, isList := v.([]any)
	if depth == 0 {
		if !isList || len(list) != have {
			return v, false
		}
		list = list[:min(want, len(list))]
		for len(list) < want {
			list = append(list, list[len(list)-1])
		}
		return list, true
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			next, changed := resizedAt(v[i], depth-1, have, want)
			v[i], ok = next, ok || changed
		}
	case map[string]any:
		for k := range v {
			next, changed := resizedAt(v[k], depth-1, have, want)
			v[k], ok = next, ok || changed
		}
	}
	return v, ok
}
