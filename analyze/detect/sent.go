package detect

import (
	"bytes"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Sent is what coalmine as the client gave the server: what comes back of it is
// no observation about the server. The zero Sent is ready, a nil one is empty.
type Sent struct {
	// params are as they were sent, and their strings without escapes, each with sentEnd
	// behind it.
	params []byte
	size   int
	// full says that not all could be kept: then everything may be an echo.
	full bool
	// kinds are the rules of the texts that were sent.
	kinds map[string]bool
}

// sentEnd stands in no text of UTF-8.
const sentEnd = 0xFF

// clone is a Sent to which more can be added. Of a nil one it is empty.
func (s *Sent) clone() *Sent {
	if s == nil {
		return &Sent{}
	}
	c := *s
	c.params, c.kinds = slices.Clip(c.params), maps.Clone(c.kinds)
	return &c
}

// maxSent bounds what is kept of a session's own requests.
const maxSent = 32 << 20

// event takes what the client sends.
func (s *Sent) event(e *wirelog.Event) {
	if s == nil || e.Dir != session.C2S || len(e.Params) == 0 && len(e.Result) == 0 {
		return
	}
	for _, p := range [][]byte{e.Params, e.Result} {
		if s.size += len(p); s.size > maxSent {
			s.full = true
			return
		}
		s.params = append(append(s.params, p...), sentEnd)
		quick := text.Quick(p)
		eachString(p, func(_, v string) {
			s.params = append(append(s.params, v...), '\n')
			if quick {
				return
			}
			for _, h := range text.Scan(v) {
				if s.kinds == nil {
					s.kinds = map[string]bool{}
				}
				s.kinds[h.Rule] = true
			}
		})
		s.params = append(s.params, sentEnd)
	}
}

// served takes a text that coalmine gave the server otherwise than by its client.
func (s *Sent) served(text string) {
	if s == nil {
		return
	}
	if s.size += len(text); s.size > maxSent {
		s.full = true
		return
	}
	s.params = append(append(s.params, text...), sentEnd)
}

// has reports whether bytes of the wire may be our own.
func (s *Sent) has(p []byte) bool {
	if s == nil {
		return false
	}
	if s.full {
		return true
	}
	return bytes.Contains(s.params, p)
}

// foreign is what is left of a text without our own words: those of at least 4 letters that stand in what we
// sent, in any case and order, since a tool may have changed what it was given. It is "" where most is ours.
func (s *Sent) foreign(text string) string {
	if s == nil {
		return text
	}
	if s.full {
		return ""
	}
	params := bytes.ToLower(s.params)
	ours, all := 0, 0
	left := longWord.ReplaceAllStringFunc(text, func(word string) string {
		all++
		if !bytes.Contains(params, bytes.ToLower([]byte(word))) {
			return word
		}
		ours++
		return ""
	})
	if all > 0 && 3*ours >= 2*all {
		return ""
	}
	return left
}

// longWord is a word that says something.
var longWord = lazyregexp.New(`[\pL\pN]{4,}`)

// hasText reports whether the text of a hit in s may be our own: letters of a kind that
// typesetting brings are that wherever some were sent, words only where they were.
func (s *Sent) hasText(h *text.Hit, in string) bool {
	switch {
	case s == nil:
		return false
	case s.full || h.Decoded && s.kinds[h.Rule]:
		return true
	case h.Rule == text.Hidden && h.Kind != tagCharacter && h.N < longRun:
		return s.kinds[h.Rule]
	}
	return s.kinds[h.Rule] && s.has([]byte(in[h.Offset:h.End]))
}
