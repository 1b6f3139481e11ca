package sinkhole

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

var (
	// reserved are the special uses of RFC 6761, RFC 6762, RFC 7686 and RFC 9476 that no
	// name server has an address for.
	reserved = []string{"invalid", "test", "local", "onion", "alt"}
	// private are the domains that a router or a company's own name servers answer for,
	// and "example" stands for real hosts in tests.
	private = []string{"example", "internal", "lan", "home", "corp", "intranet", "private"}
)

// exists reports whether a name is to have an address: a program that looks up what
// cannot exist, and finds it, knows that it is in a sandbox. A name does not exist if
// its use is reserved, if it is a single label, if its top-level domain is in no root,
// or if the label that somebody registered looks random; one that known lists does,
// unless its use is reserved.
func (n *names) exists(name string) bool {
	top := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case slices.ContainsFunc(n.missing, func(m string) bool { return name == m || strings.HasSuffix(name, "."+m) }):
		return false
	case n.every || metadataNames[name] || top == "localhost" || Allows(n.allow, name):
		return true
	case slices.Contains(reserved, top):
		return false
	case n.known[name] || slices.Contains(private, top) && top != name:
		return true
	case name == top:
		return false
	}
	if _, ok := n.lead(name); ok {
		return true
	}
	suffix, registry := publicsuffix.PublicSuffix(name)
	if !registry { // below a suffix of a hoster's, random labels are as good as others
		return strings.Contains(suffix, ".")
	}
	registered, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return true // it is a suffix itself
	}
	label, _, _ := strings.Cut(registered, ".")
	return !looksRandom(label)
}

// follows lists, for each letter, those that stand after it in at least thirty of the
// words of a system's documentation (9,000 English words).
var follows = [26]string{
	"abcdfgiklmnprstuvwxy", "abceijlmoprstuy", "acdefhiklmoprstuy", "abcdefilnoprstuy", "abcdefghiklmnopqrstuvwxy", "adefilorstuy",
	"aeghilmnorstu", "aeilmorstuy", "abcdefgklmnoprstvxz", "aeou", "aeilst", "acdefiklnopstuvy", "abdeilmopsuy", "abcdefgiklmnoprstuvy",
	"abcdefgiklmnoprstuvwx", "acdehiloprstuy", "u", "abcdefgiklmnoprstuvy", "acdefghiklmnoprstuwy", "abcdefhilmnoprstuwy",
	"abcdefgilmnoprst", "aeio", "aehinors", "ceimpst", "aeilmnopst", "aei",
}

const (
	// A label shorter than this is taken for an abbreviation.
	leastRandom = 7
	// oddPairs is how many pairs of letters that words do not have make a label look
	// random, where they are two fifths of its pairs; turns is how often letters and
	// digits alternate in one that does.
	oddPairs, turns = 2, 4
)

// looksRandom reports whether a label reads as drawn by a machine. Of two English words
// written together 3 in 1,000 do, of twelve drawn letters 67 in 100, and of twelve drawn
// letters and digits 90.
func looksRandom(label string) bool {
	if len(label) < leastRandom || strings.HasPrefix(label, "xn--") {
		return false
	}
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	odd, pairs, turned := 0, 0, 0
	for i := 1; i < len(label); i++ {
		a, b := label[i-1], label[i]
		switch {
		case letter(a) && letter(b):
			pairs++
			if strings.IndexByte(follows[a-'a'], b) < 0 {
				odd++
			}
		case digit(a) && letter(b), letter(a) && digit(b):
			turned++
		}
	}
	return turned >= turns || odd >= oddPairs && 5*odd >= 2*pairs
}
