package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// LoopWindow is the time within which calls that are alike are counted.
const LoopWindow = 5 * time.Second

// maxLoops bounds the different calls that are counted at a time.
const maxLoops = 4096

// roleMarks are the marks by which the prompt formats of models tell who speaks: ChatML,
// Llama 2 and 3, Mistral, Gemma, Phi and Anthropic's older text format. No tool has a
// reason to carry them between a user and a model.
var roleMarks = regexp.MustCompile(`(?i)<\|\s*/?(?:im_(?:start|end|sep)|system|user|assistant|endoftext|begin_of_text|eot_id|(?:start|end)_header_id)\s*\|>` +
	`|\[/?INST\]|<</?SYS>>|\[/?SYSTEM(?:_PROMPT)?\]|<(?:start|end)_of_turn>|</?(?:system|assistant)(?:_prompt)?>|\n\n(?:Human|Assistant): ?`)

// careful says why the arguments of a call do not pass that its declaration allows: they
// hold a secret or role marks, or the same call came too often.
func (s *Session) careful(tool string, arguments json.RawMessage) (Reason, string) {
	o := &s.g.opts
	if o.StopArguments && o.Scan != nil {
		if kinds := o.Scan(arguments); len(kinds) > 0 {
			return ReasonSecret, "the arguments hold " + strings.Join(kinds, ", ")
		}
	}
	if o.StopMarks && marked(arguments) {
		return ReasonTaint, "the arguments hold marks of a prompt format"
	}
	if o.Repeats > 0 && s.c.repeats(o.Now(), tool, arguments) > o.Repeats {
		return ReasonLoop, fmt.Sprintf("more than %d calls alike within %v", o.Repeats, LoopWindow)
	}
	return "", ""
}

// marked reports whether a text in a JSON value has role marks.
func marked(value json.RawMessage) bool {
	// Each text and each name of a member is a token, however deep it stands.
	tokens := json.NewDecoder(bytes.NewReader(value))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if err != nil {
			return !errors.Is(err, io.EOF) // what cannot be read is not known to have none
		}
		if text, ok := token.(string); ok && roleMarks.MatchString(text) {
			return true
		}
	}
}

// repeats counts the calls that are like this one within LoopWindow, with it.
func (c *contract) repeats(now time.Time, tool string, arguments json.RawMessage) int {
	var compact bytes.Buffer
	if json.Compact(&compact, arguments) != nil {
		compact.Write(arguments)
	}
	key := sha256.Sum256(append([]byte(tool+"\x00"), compact.Bytes()...))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loops == nil {
		c.loops = map[[sha256.Size]byte][]time.Time{}
	}
	old := func(t time.Time) bool { return now.Sub(t) >= LoopWindow }
	times := slices.DeleteFunc(c.loops[key], old)
	if len(times) == 0 && len(c.loops) >= maxLoops {
		c.forget(old)
	}
	c.loops[key] = append(times, now)
	return len(times) + 1
}

// forget makes room for a call: of what is too old to count or, where nothing is, of the call
// that came least often and, of those, longest ago.
func (c *contract) forget(old func(time.Time) bool) {
	maps.DeleteFunc(c.loops, func(_ [sha256.Size]byte, times []time.Time) bool { return old(times[len(times)-1]) })
	if len(c.loops) < maxLoops {
		return
	}
	var least [sha256.Size]byte
	var times []time.Time
	for key, t := range c.loops {
		if times == nil || len(t) < len(times) || len(t) == len(times) && t[len(t)-1].Before(times[len(times)-1]) {
			least, times = key, t
		}
	}
	delete(c.loops, least)
}

// unmarked is a result of resources/read whose texts have no role marks: each is replaced
// by a word. It is nil where there are none.
func (s *Session) unmarked(raw json.RawMessage) json.RawMessage {
	found := false
	out := rebuild(raw, func(key string, value json.RawMessage) json.RawMessage {
		if key != "result" {
			return value
		}
		return rebuild(value, func(key string, value json.RawMessage) json.RawMessage {
			if key != "contents" || value[0] != '[' {
				return value
			}
			var contents []json.RawMessage
			wire.WalkArray(value, func(_ int, entry []byte) {
				contents = append(contents, rebuild(entry, func(key string, value json.RawMessage) json.RawMessage {
					var text string
					if key != "text" || json.Unmarshal(value, &text) != nil || !roleMarks.MatchString(text) {
						return value
					}
					found = true
					return encode(roleMarks.ReplaceAllString(text, "[removed]"))
				}))
			})
			return encode(contents)
		})
	})
	if !found {
		return nil
	}
	return out
}

// cleaned takes the role marks out of an answer to resources/read. A batch passes as it
// came where the gate fails open.
func (s *Session) cleaned(raw []byte, v Verdict, methods []string) Verdict {
	if !s.g.opts.StopMarks || v.Changed || len(methods) != 1 || methods[0] != "resources/read" {
		return v
	}
	line := s.unmarked(raw)
	if line == nil {
		return v
	}
	const why = "it held marks of a prompt format"
	return Verdict{
		Pass: line, Changed: true,
		Mark:     &session.Gate{Action: actionBlocked, Reason: why},
		Injected: &session.Gate{Action: actionInjected, Reason: why},
	}
}

// observed is a verdict of a gate that only records: what came passes as it came, and the
// record says what would have become of it.
func observed(raw []byte, v Verdict) Verdict {
	if v.Pass != nil && !v.Changed && v.Reply == nil {
		return v
	}
	mark := *v.Mark
	mark.Action, mark.Evidence = actionWould, ""
	return Verdict{Pass: raw, Mark: &mark}
}
