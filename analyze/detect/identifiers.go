package detect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/handout"
	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// identifierKind is what an identifier names.
type identifierKind string

const (
	accountKind identifierKind = "the account"
	walletKind  identifierKind = "the wallet"
	mailKind    identifierKind = "the address"
	hostKind    identifierKind = "the host"
	pathKind    identifierKind = "the file"
	digestKind  identifierKind = "the digest"
	numberKind  identifierKind = "the number"
)

// identifier is something that a text names, which another value cannot stand for.
type identifier struct {
	kind identifierKind
	// value is as it stands there; of an address it is the host.
	value string
	// rest is what follows the host in an address.
	rest string
	// label are the words that say what it is: those before it in its line, or its key.
	label []string
}

var (
	accounts   = lazyregexp.New(`\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b`)
	wallets    = lazyregexp.New(`\b(?:0x[0-9a-fA-F]{40}|bc1[ac-hj-np-z02-9]{25,60}|[13T][1-9A-HJ-NP-Za-km-z]{25,33})\b`)
	mails      = lazyregexp.New(`\b[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b`)
	addresses  = lazyregexp.New(`(?i)\b(?:https?|wss?|ftps?|ssh|git)://(?:[^\s/?#"'<>\\]*@)?([a-z0-9.-]+)(?::\d+)?([^\s"'<>)\]\\]*)`)
	paths      = lazyregexp.New("(?:^|[\\s\"'=(:`])((?:~|[A-Za-z]:)?(?:/[\\w.@+-]+){2,}|[A-Za-z]:(?:\\\\[\\w.@+ -]+)+)")
	digests    = lazyregexp.New(`\b[0-9a-fA-F]{32,128}\b`)
	serials    = lazyregexp.New(`\b(?:\d{8,}|\d{4}(?:[ -]\d{4}){2,4})\b`)
	moments    = lazyregexp.New(`^(?:1[4-9]\d{8}|1[4-9]\d{11}|(?:19|20)\d{6}|(?:19|20)\d{12})$`)
	mixedCases = lazyregexp.New(`[a-z].*[A-Z]|[A-Z].*[a-z]`)
)

// maxIdentifiers bounds what is taken from one text.
const maxIdentifiers = 200

// identifiersIn lists what a text names.
func identifiersIn(s string) (out []identifier) {
	if len(s) < 4 || !strings.ContainsAny(s, "0123456789@/\\") {
		return nil
	}
	taken := []byte(s)
	find := func(kind identifierKind, form *lazyregexp.Regexp, ok func(string) bool) {
		for _, m := range form.FindAllSubmatchIndex(taken, maxIdentifiers) {
			from, to, rest := m[0], m[1], ""
			if len(m) > 2 {
				from, to = m[2], m[3]
			}
			if len(m) > 4 {
				rest = s[m[4]:m[5]]
			}
			value := strings.TrimRight(s[from:to], ".")
			if len(out) >= maxIdentifiers || ok != nil && !ok(value) {
				continue
			}
			out = append(out, identifier{kind, value, rest, labelBefore(s[:from])})
			// What one kind has taken, no other takes apart.
			for i := m[0]; i < m[1]; i++ {
				taken[i] = ' '
			}
		}
	}
	find(hostKind, addresses, func(v string) bool { return strings.Contains(v, ".") })
	find(mailKind, mails, nil)
	find(accountKind, accounts, func(v string) bool { return pii.IsIBAN(strings.NewReplacer(" ", "", "-", "").Replace(v)) })
	find(walletKind, wallets, func(v string) bool {
		return strings.HasPrefix(v, "0x") || strings.HasPrefix(v, "bc1") || mixedCases.MatchString(v) && strings.ContainsAny(v[1:], "123456789")
	})
	find(pathKind, paths, nil)
	find(digestKind, digests, func(v string) bool {
		return strings.ContainsAny(v, "0123456789") && strings.ContainsAny(v, "abcdefABCDEF")
	})
	find(numberKind, serials, func(v string) bool { return !moments.MatchString(v) })
	return out
}

// packed is a text without what formatting adds: letters in lower case, and digits.
func packed(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			return unicode.ToLower(r)
		case unicode.IsDigit(r):
			return r
		}
		return -1
	}, s)
}

// standsIn reports whether the other side names the same: of a host its domain, of a file a part
// of its path.
func (id *identifier) standsIn(other *sides) bool {
	switch id.kind {
	case hostKind:
		return strings.Contains(other.lower, handout.Domain(id.value))
	case pathKind:
		parts := strings.FieldsFunc(id.value, func(r rune) bool { return r == '/' || r == '\\' })
		if strings.HasPrefix(id.value, "~") && len(parts) > 1 {
			parts = parts[1:]
		}
		// The other side may say where from another directory on.
		for i := range parts {
			tail := strings.ToLower(strings.Join(parts[i:], "/"))
			at := strings.Index(other.lower, tail)
			if at >= 0 && (i == 0 || at == 0 || !strings.ContainsRune("/\\", rune(other.lower[at-1]))) {
				return true
			}
		}
		return false
	}
	return other.holds(id.value)
}

// shownEnds is how much is shown of each end of a long number.
const shownEnds = 4

// String names it. Of long numbers the ends are enough, and no reader copies them.
func (id identifier) String() string {
	switch id.kind {
	case accountKind, walletKind, digestKind, numberKind:
		v := strings.NewReplacer(" ", "", "-", "").Replace(id.value)
		if len(v) > 3*shownEnds {
			v = v[:shownEnds] + "…" + v[len(v)-shownEnds:]
		}
		return string(id.kind) + " " + name(v)
	}
	return string(id.kind) + " " + name(id.value)
}

// labelWords is how many words before an identifier say what it is.
const labelWords = 6

// labelBefore are the words that stand before an identifier in its line.
func labelBefore(s string) []string {
	s = s[strings.LastIndexByte(s, '\n')+1:]
	words := wordsOf(s[max(0, len(s)-200):])
	return words[max(0, len(words)-labelWords):]
}

// wordsOf are the words of a text or of a key, in lower case: "accountNumber" has two.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(spaced(s)), func(r rune) bool { return !unicode.IsLetter(r) })
}

// Words of labels and keys: typeWords say what kind of thing it is and not which, joining ones
// say nothing, and asideWords are of what a text names beside its matter.
var (
	typeWords    = strings.Fields("url uri link href path file filename host hostname domain email mail address number no id digest hash checksum destination output target endpoint website site homepage page http https")
	joiningWords = strings.Fields("the is at of to in for a an and your was has been with on it this that are as by from here now")
	asideWords   = strings.Fields("docs documentation help support contact learn see license more guide readme log logs cache config report issues bug feedback questions powered source via attribution credit terms privacy")
)

// specific are the words of a label that say which one it is.
func specific(words []string) (out []string) {
	for _, w := range words {
		if !slices.Contains(typeWords, w) && !slices.Contains(joiningWords, w) {
			out = append(out, w)
		}
	}
	return out
}

// byIdentifier compares what both sides name, where no places tell.
func (r *reply) byIdentifier() (out []contradiction) {
	allSaid, allTaken := r.saidIdentifiers(), ofLeaves(r.leaves)
	said := missing(allSaid, &r.taken)
	taken := missing(missing(allTaken, &r.shown), &r.given)
	for i := range taken {
		s := &taken[i]
		for k := range said {
			t := &said[k]
			if t.kind == s.kind && corresponds(t, s, count(allSaid, s.kind), count(allTaken, s.kind)) {
				out = append(out, contradiction{s.place, t.String(), s.String(), 3})
				break
			}
		}
	}
	return out
}

// maxMissing bounds the identifiers of one side that are compared.
const maxMissing = 50

// missing are the identifiers that do not stand on the other side.
func missing(list []placed, other *sides) (out []placed) {
	for i := range list {
		if len(out) < maxMissing && !list[i].standsIn(other) {
			out = append(out, list[i])
		}
	}
	return out
}

// placed is an identifier and where it stands.
type placed struct {
	identifier
	place string
}

// saidIdentifiers are those of the text. Those of JSON have their keys as labels.
func (r *reply) saidIdentifiers() (out []placed) {
	for _, s := range r.plain {
		for _, id := range identifiersIn(s) {
			out = append(out, placed{id, ""})
		}
	}
	for _, v := range r.parsed {
		list, _ := leaves(v)
		out = append(out, ofLeaves(list)...)
	}
	return out
}

func ofLeaves(list []leaf) (out []placed) {
	for i := range list {
		if len(out) >= maxIdentifiers {
			break
		}
		for _, id := range identifiersIn(list[i].text()) {
			id.label = wordsOf(placeName(list[i].path))
			out = append(out, placed{id, placeName(list[i].path)})
		}
	}
	return out
}

// count counts the different identifiers of a kind.
func count(list []placed, kind identifierKind) int {
	seen := map[string]bool{}
	for i := range list {
		if list[i].kind == kind {
			seen[packed(list[i].value)] = true
		}
	}
	return len(seen)
}

// corresponds reports whether one identifier of the text is in the place of one of the structured
// content: by its words, by what follows the host, or because each side has one alone.
func corresponds(t, s *placed, inText, inStructured int) bool {
	label, key := specific(t.label), specific(s.label)
	if slices.ContainsFunc(label, func(w string) bool { return slices.Contains(asideWords, w) && !slices.Contains(key, w) }) {
		return false
	}
	alone := inText == 1 && inStructured == 1
	switch {
	case slices.ContainsFunc(label, func(w string) bool { return slices.Contains(key, w) }):
		return true
	case t.kind == accountKind || t.kind == walletKind:
		return inText == inStructured
	case t.kind == hostKind && len(t.rest) > 1 && t.rest == s.rest:
		return true
	case t.kind == numberKind || t.kind == digestKind && len(key) > 0:
		return false
	}
	return alone && len(key) == 0
}
