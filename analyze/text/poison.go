package text

import (
	"regexp"
	"strings"
	"sync"
)

// poisons match text that is directed at a model and at more than a tool's use.
// Each wants two signs together (an order and its secrecy, an order and a secret's
// place), so that ordinary imperatives stay quiet. What one matches begins with one
// of its words, a blank of which stands for any; without words, with a bracket.
var poisons = []struct{ begins, expression string }{
	// Prompts have their parts in tags such as <instructions>: what orders there is the taking of a secret, silence, or other tools.
	{``, `(?:<\s*(?:system|secret|hidden|sys|admin|override)\s*>|\[\s*(?:system|inst|admin)\s*\]).{0,200}?\b(?:read|send|pass|include|ignore|do\s+not|don'?t|never|must|always|before|reveal|call)\b` +
		`|<\s*(?:important|instructions?|critical)\s*>.{0,400}?(?:\b(?:read|send|pass|include|reveal)\b[^<]{0,80}(?:~/|\.env\b|\.ssh\b|/etc/|credential|password|passphrase|secret|\btokens?\b|\b(?:api|private|ssh|access)[ _-]?keys?\b|conversation|chat\s+history|system\s+prompt|environment\s+variables?|\.json\b)` +
		`|\b(?:do\s+not|don'?t|never)\s+(?:\w+\s+){0,2}?(?:tell|mention|inform|notify|alert|reveal|disclose|show)\b|\bignore\s+(?:all|any|the|your|previous|prior|earlier)\b|\bbefore\s+(?:\w+\s+){0,2}?(?:using|calling|use|call|answering|responding)\b` +
		`|\b(?:must|always)\s+(?:\w+\s+){0,2}?(?:call|send|read|pass|include|invoke)\b|\bcall\s+(?:\w+\s+)?\x60?[\w-]+\x60?\s+(?:tool|first|with)\b)`},
	{`ignore,disregard,forget,override`, `(?:ignore|disregard|forget|override)\s+(?:(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier|preceding|other|existing|system)\s+(?:instructions?|prompts?|rules?|directives?|guidelines?|message\b)` +
		// Programs that read messages leave earlier ones out.
		`|(?:all\s+|any\s+|the\s+|your\s+)+(?:previous|prior|above|earlier|preceding|other|existing|system)\s+messages)`},
	{`do not,don't,dont,never,without,avoid`, `(?:do\s+not|don'?t|never|without|avoid)\s+(?:\w+\s+){0,2}?(?:(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting)(?:\s+\w+){0,4}?|` +
		// What a tool returns may be kept from the user (ids are); what was done may not.
		`(?:reveal|revealing|disclose|disclosing|show|showing)\s+(?:this|that|it|these|any\s+of\s+(?:this|it|these)|anything))\s+(?:to\s+)?the\s+user`},
	{`hide,conceal,keep`, `(?:hide|conceal|keep)\s+(?:this|it|that|these)\s+(?:\w+\s+){0,3}?(?:from\s+the\s+user|secret)`},
	{`send,include,pass,attach,upload`, `(?:send|include|pass|attach|upload)\b` + within + secretPlaces},
	// Who explains an error has a person load a key; an order to a model says what becomes of it.
	{`read,cat,open,load,get,fetch`, `(?:read|cat|open|load|get|fetch)\b` + within + secretPlaces + `[^\n]{0,160}\b(?:and|then|before|first|(?:as|in|into|to|with)\s+(?:the|your|this|a|an)|its\s+contents?)\b`},
	{`before,first,must,always`, `(?:before|first|must|always)\b[^\n]{0,60}\b(?:read|cat|open|load|get|fetch)\b` + within + secretPlaces},
	{times, `(?:before|after|prior\s+to|when|whenever)\s+(?:\w+\s+){0,2}?(?:using|calling|invoking|use|call|running)\s+(?:any|another|other)\s+(?:\w+\s+){0,2}?tools?\b[^.\n]{0,80}\b(?:you\s+must|must\s+first|always\s+(?:call|use|read|send))`},
	// How a tool itself is used is for its description to say; what of the user's it takes along is not.
	{times, `(?:before|after|prior\s+to|when|whenever)\s+(?:\w+\s+){0,2}?(?:using|calling|invoking|use|call|running)\s+(?:this|the)\s+(?:\w+\s+){0,2}?tools?\b[^.\n]{0,80}\b(?:you\s+must|must\s+first|always)\b[^\n]{0,80}\b(?:read|send|open|upload|cat|curl|forward|include|pass|attach|copy|collect|post)\b[^\n]{0,80}` +
		`(?:\b(?:files?|secrets?|passwords?|credentials?|keys?|tokens?|history|conversation|private)\b|~/|\.env\b|/etc/|\.ssh\b)`},
	{`instead of,do not use,never use`, `(?:instead\s+of|do\s+not\s+use|never\s+use)\s+(?:the\s+)?[\w-]+\s+tools?\s+(?:from|of|provided\s+by)\s+(?:other|another|any\s+other)\s+servers?`},
	{`the user`, `(?:the\s+user\s+(?:must|should|need)\s+not\s+(?:know|see|be\s+told))`},
}

// within is a part of a sentence: a dot within the name of a file ends none.
const within = `(?:[^.\n]|\.\w){0,60}?`

// secretPlaces are files that hold secrets.
const secretPlaces = `(?:~/\.ssh|id_rsa|id_ed25519|\.aws/credentials|~/\.netrc|/etc/shadow|~/\.cursor/mcp\.json|\.git-credentials|\.kube/config)`

const times = `before,after,prior to,when,whenever`

// poison is all of them at once, at any place: right for every text, and a
// tenth as fast.
var poison = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for _, p := range poisons {
		e := p.expression
		if p.begins != "" {
			e = `\b` + e
		}
		all = append(all, e)
	}
	return regexp.MustCompile(`(?is)` + strings.Join(all, "|"))
})

// opener is a way in which what a poison matches begins, and the poison anchored there.
type opener struct {
	words string
	bit   uint
	at    *regexp.Regexp
}

// openers are, by their first character, those of all poisons in their order.
var openers = sync.OnceValue(func() *[256][]opener {
	out := &[256][]opener{}
	for i, p := range poisons {
		at := regexp.MustCompile(`(?is)\A(?:` + p.expression + `)`)
		if p.begins == "" {
			out['<'] = append(out['<'], opener{"", 1 << i, at})
			out['['] = append(out['['], opener{"", 1 << i, at})
			continue
		}
		for w := range strings.SplitSeq(p.begins, ",") {
			out[w[0]] = append(out[w[0]], opener{w, 1 << i, at})
			out[w[0]-0x20] = append(out[w[0]-0x20], opener{w, 1 << i, at})
		}
	}
	return out
})

// poisoned finds what poisons match in a text that holds words.
func poisoned(s string, words present) []Hit {
	if hasFolding(s) {
		return poisonedSlowly(s)
	}
	bits := words.possible()
	if bits == 0 {
		return nil
	}
	var out []Hit
	begins := openers()
	for i := 0; i < len(s) && len(out) < MaxHits; {
		n := 0
		if list := begins[s[i]]; list != nil && (!isWord(s[i]) || i == 0 || !isWord(s[i-1])) {
			n = poisonAt(s[i:], list, bits)
		}
		if n > 0 && !isOrdinary(s, i, i+n) {
			out = append(out, Hit{Rule: Poisoning, Offset: i, End: i + n, Text: Printable(s[i:i+n], 120)})
		}
		i += max(n, 1)
	}
	return out
}

// looks match an order of how an answer looks: which identifiers of it are no use to a reader.
var looks = regexp.MustCompile(`(?i)^(?:do\s+not|don'?t|never|without|avoid)\s+(?:\w+\s+){0,2}?(?:mention|mentioning)\s+(?:this|that|the|these|any|its)\s+(?:\w+\s+)?(?:ids?|uids?|uuids?|guids?|identifiers?|indexe?s?|indices)\s+(?:in|within)\s+(?:the|your|an?)\s+(?:output|answer|response|reply)`)

// aboutLooks reports whether an order that was found is one of looks alone.
func aboutLooks(order []byte) bool { return looks.Match(order) }

// poisonedSlowly is poisoned for every text.
func poisonedSlowly(s string) []Hit {
	var out []Hit
	for _, m := range poison().FindAllStringIndex(s, MaxHits) {
		if order := s[m[0]:m[1]]; !isOrdinary(s, m[0], m[1]) && !aboutLooks([]byte(order)) {
			out = append(out, Hit{Rule: Poisoning, Offset: m[0], End: m[1], Text: Printable(order, 120)})
		}
	}
	return out
}

// poisonAt is the length of the match of the first poison of those in bits that
// matches where a text begins, 0 for none.
func poisonAt(s string, list []opener, bits uint) int {
	for _, o := range list {
		if bits&o.bit == 0 || !opens(s, o.words) {
			continue
		}
		if m := o.at.FindStringIndex(s); m != nil && !aboutLooks([]byte(s[:m[1]])) {
			return m[1]
		}
	}
	return 0
}

// identifier is the object of a sentence that is an identifier: which element, page or
// trace is meant is for the next call, and hides nothing that was done.
const identifier = `\s+(?:(?:the|this|that|these|those|its|any|such|internal|raw|\w+'s)\s+){0,2}(?:\w+\s+)?(?:ids?|uids?|uuids?|identifiers?)\b`

var identifierFollows, identifierKept = regexp.MustCompile(`(?is)\A` + identifier), regexp.MustCompile(`(?is)\A(?:do\s+not|don'?t|never|without|avoid)\s+(?:\w+\s+){0,2}?(?:tell|mention|reveal|disclos|show)(?:e|ing)?` + identifier)

// isOfIdentifier reports whether an identifier follows at a text's begin.
func isOfIdentifier(low []byte) bool {
	return identifierFollows.Match(low[:min(len(low), 2*maxGap)])
}

// isOrdinary reports whether what a poison matches in a text is none for what stands around it.
func isOrdinary(s string, from, to int) bool {
	return keepsIdentifier(s[from:to]) || isLogLevel(s, from) || isSection(s, from) || strings.HasSuffix(s[from:to+len(pathGoesOn.FindString(s[to:min(to+maxGap, len(s))]))], ".pub")
}

// pathGoesOn is the rest of a path. The public half of a key is no secret.
var pathGoesOn = regexp.MustCompile(`\A[\w./-]*\w`)

// isLogLevel reports whether a bracket stands in a line behind a time or a name, as levels in logs do.
func isLogLevel(s string, at int) bool {
	if s[at] != '[' {
		return false
	}
	before := strings.TrimRight(s[strings.LastIndexByte(s[:at], '\n')+1:at], " \t")
	return before != "" && isWord(before[len(before)-1])
}

// isSection reports whether a bracket is a section of a file of settings: a line of its own, and a setting or a
// comment in the next.
func isSection(s string, at int) bool {
	return s[at] == '[' && section.MatchString(s[at:min(at+maxSection, len(s))])
}

const maxSection = 200

var section = regexp.MustCompile(`\A\[[\w .:-]+\][ \t]*\r?\n(?:[ \t]*[#;][^\n]*\n|[ \t]*\n)*[ \t]*[\w.-]+[ \t]*=`)

// keepsIdentifier reports whether an order asks that an identifier be not mentioned.
func keepsIdentifier(s string) bool { return identifierKept.MatchString(s) }

// opens reports whether a text begins with words and ends a word with them, or
// for none with a bracket and a letter with which a tag may begin.
func opens(s, words string) bool {
	i := 0
	for k := range len(words) {
		if words[k] == ' ' {
			from := i
			for i < len(s) && isBlank(s[i]) {
				i++
			}
			if i == from {
				return false
			}
			continue
		}
		if i == len(s) || lower[s[i]] != words[k] {
			return false
		}
		i++
	}
	if words != "" {
		return i == len(s) || !isWord(s[i])
	}
	for i = 1; i < len(s) && isBlank(s[i]); {
		i++
	}
	return i < len(s) && strings.IndexByte("ishaoc", lower[s[i]]) >= 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
