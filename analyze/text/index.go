package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// index holds terms by their first three bytes, five bits of each: most places of a text
// begin none. A term whose third byte may be one of several stands in all lists that it may begin.
type index struct {
	// begins has a bit for each key of list: it is small.
	begins [1 << 15 / 64]uint64
	list   [1 << 15]uint16
	lists  [][]term
}

// terms are those of all languages.
var terms = sync.OnceValue(func() *index { return newIndex(^concept(0)) })

// anchorTerms are those of anchors.
var anchorTerms = sync.OnceValue(func() *index { return newIndex(anchors) })

// newIndex holds the terms of some concepts.
func newIndex(of concept) *index {
	out := &index{lists: [][]term{nil}}
	add := func(language int, what concept, list string) {
		for w := range strings.SplitSeq(list, "|") {
			if len(w) < 2 || what&of == 0 {
				continue
			}
			first, _ := utf8.DecodeRuneInString(w)
			out.add(w, term{parts: strings.Split(w, "…"), concept: what, language: language, bound: unicode.IsLetter(first) && !unbroken(first)})
		}
	}
	add(everywhere, path, "~/.ssh|.ssh/|id_rsa|id_ed25519|.aws/credentials|~/.aws|.netrc|/etc/shadow|.cursor/mcp.json|claude_desktop_config.json|.git-credentials|.kube/config|~/.npmrc|~/.pypirc| .env |/.env |`.env`|\".env\"|'.env'")
	for i, l := range lexicon {
		for what, list := range l.words {
			add(i, what, list)
		}
	}
	return out
}

// add puts a term into the lists that it may begin. A blank as its third byte stands for any
// or for none, and a gap for any byte.
func (x *index) add(w string, t term) {
	low := uint16(w[0]&0x1F)<<10 | uint16(w[1]&0x1F)<<5
	from, to := uint16(0), uint16(0x1F)
	if len(w) > 2 && w[2] != ' ' && !strings.HasPrefix(w[2:], "…") {
		from, to = uint16(w[2]&0x1F), uint16(w[2]&0x1F)
	}
	for key := low | from; key <= low|to; key++ {
		if x.list[key] == 0 {
			x.begins[key/64] |= 1 << (key % 64)
			x.list[key] = uint16(len(x.lists)) //nolint:gosec // there are at most 1<<15 of them
			x.lists = append(x.lists, nil)
		}
		x.lists[x.list[key]] = append(x.lists[x.list[key]], t)
	}
}

// at are the terms that may begin at i.
func (x *index) at(low []byte, i int) []term {
	third := byte(0)
	if i+2 < len(low) {
		third = low[i+2]
	}
	key := uint16(low[i]&0x1F)<<10 | uint16(low[i+1]&0x1F)<<5 | uint16(third&0x1F)
	if x.begins[key/64]&(1<<(key%64)) == 0 {
		return nil
	}
	return x.lists[x.list[key]]
}
