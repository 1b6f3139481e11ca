package answers

import (
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxCallText bounds an expression before and behind its decoder, in bytes.
const maxCallText = 600

// thenOf is what follows a promise of an answer: a function, by its argument.
var thenOf = lazyregexp.New(`^\s*\.then\(\s*(?:async\s*)?\(?\s*(` + identifier + `|\{[^{}]{1,300}\})`)

// decodedAt is the expression that a decoder between two places ends, where a member of it is taken at once:
// "(await res.json()).items". With names, a function gets the value: ".then((data) => …)". An empty span is for neither.
func decodedAt(src string, from, to int) (value span, names string) {
	if strings.HasSuffix(src[:to], "await ") { // the call behind it, and not the word, has the value
		i := strings.IndexByte(src[to:min(len(src), to+maxStatement)], '(')
		if i < 0 {
			return span{}, ""
		}
		to += i + 1
	}
	if src[to-1] == '(' {
		if to = closing(src, to); to < 0 {
			return span{}, ""
		}
	}
	least := max(0, from-maxCallText)
	if src[from] == '.' {
		from = receiver(src, from, least)
	} else {
		from = nameBefore(src, from, least)
	}
	arrow := false
	for from > least {
		if rest := strings.TrimSuffix(src[:from], "await "); len(rest) < from {
			from = len(rest)
			continue
		}
		if src[from-1] != '(' || to >= len(src) || src[to] != ')' {
			break
		}
		from, to = from-1, to+1
	}
	// The function that decodes is the argument of another then.
	if before := strings.TrimRight(src[max(0, from-200):from], " "); strings.HasSuffix(before, "=>") && to < len(src) && src[to] == ')' {
		arrow, to = true, to+1
	}
	after := src[to:min(len(src), to+400)]
	if m := thenOf.FindStringSubmatchIndex(after); m != nil && arrow {
		return span{from, to + m[1]}, after[m[2]:m[3]]
	}
	if m := steps.FindString(after); m == "" || arrow || strings.HasPrefix(strings.TrimLeft(m, " \t\r\n"), ".") && isPromise(m) {
		return span{}, ""
	}
	return span{from, to}, ""
}

// isPromise reports whether a step is a method of promises.
func isPromise(step string) bool {
	name := strings.Trim(step, " \t\r\n?.")
	return name == "then" || name == "catch" || name == "finally"
}

// closing is the place behind the bracket that closes one that was opened before a place, negative for none near.
func closing(src string, at int) int {
	depth := 1
	for i := at; i < min(len(src), at+maxCallText); i++ {
		switch src[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// nameBefore is where a name, or a chain of names, begins that ends at a place, and not before least.
func nameBefore(src string, at, least int) int {
	for at > least && (inName(src[at-1]) || src[at-1] == '.' || src[at-1] == '?') {
		at--
	}
	return at
}

// receiver is where the expression begins whose method stands at a place, and not before least.
func receiver(src string, at, least int) int {
	for {
		if at = nameBefore(src, at, least); at <= least || src[at-1] != ')' {
			return at
		}
		open := opening(src, at, least)
		if open < 0 {
			return at
		}
		at = open
	}
}

// opening is the place of the bracket that the one before a place closes, negative for none from least on.
func opening(src string, at, least int) int {
	depth := 0
	for i := at - 1; i >= least; i-- {
		switch src[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
