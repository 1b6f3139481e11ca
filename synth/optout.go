package synth

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// maxOptOutCalls bounds the calls that turn something off and those after it, and optOutTime their time.
	maxOptOutCalls = 32
	optOutTime     = 8 * time.Second
)

var (
	// offers is how a tool says that it lets the user choose what is done with data.
	offers = lazyregexp.New(`(?i)\b(?:off|disabl\w+|opt(?:s|ed)?[ -]?(?:in|out)|consents?|telemetry|analytics|tracking|reports?|reporting|sharing|history|logging|privacy|private|incognito|offline|uploads?|sync|backups?)\b`)
	// declining are the values by which it is turned off.
	declining = lazyregexp.New(`(?i)^(?:off|no|none|never|false|disabled?|den(?:y|ied)|declined?|refused?|opt[_-]?out|private|local|offline|incognito|0)$`)
	// optsOut is the name of an argument that turns off by being true.
	optsOut = lazyregexp.New(`(?i)(?:^|_)(?:opt_?out|disable\w*|private|incognito|offline|do_not_\w+|no_\w+)$`)
)

// optOuts turns off what a tool lets the user turn off, and calls the others with texts that stand nowhere else: whether
// these are sent or kept all the same can be seen. Then it turns on again what was off.
func (d *driver) optOuts() {
	s := d.bounded(maxOptOutCalls, optOutTime)
	for _, w := range d.writers() {
		if !offers.MatchString(w.spoken()) {
			continue
		}
		off, how := d.declined(w)
		if off == nil {
			continue
		}
		s.call(w, off)
		for _, t := range order(d.tools) {
			args, ok := membersOf(t.base)
			if t == w || !ok || t.rank > readsRank {
				continue
			}
			word := oracle.Token(d.seed(t), t.name+"\x00"+w.name, 0)
			given, said := marked(args, "", word)
			if raw, err := json.Marshal(given); err == nil && said != "" {
				s.call(t, raw, session.Injection{Oracle: session.OracleOptOut, Context: how})
			}
		}
		s.call(w, w.base)
	}
}

// declined are a tool's arguments with one choice turned off, and the choice in words; nil for a tool without such.
func (d *driver) declined(w *target) (off json.RawMessage, how string) {
	args, _ := membersOf(w.base)
	set := func(name string, value any) (json.RawMessage, string) {
		given := maps.Clone(args)
		given[name] = value
		raw, err := json.Marshal(given)
		if err != nil {
			return nil, ""
		}
		return raw, fmt.Sprintf("%s: %v, by %s", name, value, w.name)
	}
	if gen := d.generator(w); gen != nil {
		for _, c := range gen.Choices() {
			if i := slices.IndexFunc(c.Values, func(v any) bool { text, isText := v.(string); return isText && declining.MatchString(text) }); i >= 0 {
				return set(c.Name, c.Values[i])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, isBool := args[name].(bool); isBool {
			return set(name, optsOut.MatchString(strings.ToLower(name)))
		}
	}
	return nil, ""
}
