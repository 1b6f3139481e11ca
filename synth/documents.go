package synth

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

var extensionText = lazyregexp.New(`\.[a-z][a-z0-9]{1,4}\b`)

// ofExtension corrects a path of which a refusal says what it should end in: a
// file of that kind which is there, or the same place under such a name.
func (l *learner) ofExtension(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	h := &l.d.cfg.Hints
	there := slices.Concat(h.Documents, h.Files, h.Images)
	corrected := false
	for name, old := range given {
		var value string
		if json.Unmarshal(old, &value) == nil && schema.NamesType(name, path.Ext(value)) {
			continue // the refusal speaks of another argument with the same value
		}
		if json.Unmarshal(old, &value) != nil || !strings.HasPrefix(value, "/") || !strings.Contains(text, value) || !l.d.planted(value) {
			continue
		}
		wanted := extensionText.FindAllString(strings.ReplaceAll(text, value, ""), 16)
		if len(wanted) == 0 {
			if of := h.OfType(schema.Words(strings.ReplaceAll(text, value, ""))); len(of) > 0 {
				wanted = []string{path.Ext(of[0])}
			}
		}
		if len(wanted) == 0 || slices.Contains(wanted, path.Ext(value)) {
			continue
		}
		is := func(f string) bool { return slices.Contains(wanted, path.Ext(f)) }
		if i := slices.IndexFunc(there, is); i >= 0 && slices.Contains(there, value) {
			value = there[i]
		} else if i >= 0 {
			value = strings.TrimSuffix(value, path.Ext(value)) + path.Ext(there[i])
		} else {
			value = strings.TrimSuffix(value, path.Ext(value)) + wanted[0]
		}
		given[name], corrected = likeOld(old, value), true
	}
	return arguments(given, corrected)
}

// arguments writes corrected arguments, nil where nothing was corrected.
func arguments(given map[string]json.RawMessage, corrected bool) json.RawMessage {
	if !corrected {
		return nil
	}
	out, err := json.Marshal(given)
	if err != nil {
		return nil
	}
	return out
}
