package detect

import (
	"bytes"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// taint finds what arguments should not hold: delimiters of prompts, and
// characters that nobody sees.
type taint struct{}

func (taint) name() string { return "semantic_taint" }

// delimiters are the reserved spellings with which models' prompts mark roles.
var delimiters = lazyregexp.New(`(?i)<\|\s*(?:system|assistant|user|im_start|im_end|im_sep|start_header_id|end_header_id|eot_id|begin_of_text|endoftext)\s*\|>` +
	`|\[\s*(?:/\s*)?(?:SYSTEM|INST)\s*\]|<<\s*(?:/\s*)?SYS\s*>>|<\s*(?:start|end)_of_turn\s*>`)

func (taint) event(c *context) {
	if !c.IsCall() || c.own {
		return
	}
	args := c.Args
	if args == nil || bytes.IndexByte(args, '<') < 0 && bytes.IndexByte(args, '[') < 0 && text.Shown(args) {
		return
	}
	found := false
	eachString(args, func(key, s string) {
		if found {
			return
		}
		what, how := taintOf(s)
		if found = what != ""; found {
			c.add(Hallucination, what, 3, []any{"tool", name(c.Asked.Tool)}, "the argument %s of %s contains %s", quoted(key), quoted(c.Asked.Tool), how)
			c.ofTool()
		}
	})
}

// taintOf names what is wrong with one argument. Joiners where a script or an
// emoji needs them are not.
func taintOf(s string) (what, how string) {
	if len(s) > 1<<20 {
		s = s[:1<<20]
	}
	if strings.ContainsAny(s, "<[") && delimiters.MatchString(s) {
		return "role_switch_delimiter", "a prompt delimiter"
	}
	if text.Shown([]byte(s)) {
		return "", ""
	}
	for _, h := range text.Scan(s) {
		if h.Rule == text.Hidden && strings.HasPrefix(h.Kind, "zero-width") {
			return "zero_width_obfuscation", "zero-width characters"
		}
		if h.Rule == text.Hidden && h.Kind == "tag character" {
			return "zero_width_obfuscation", "invisible characters"
		}
	}
	return "", ""
}
