package scope

import (
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxNounPhrase is how many words the noun has that a description begins with.
const maxNounPhrase = 5

// maxText bounds what is read of one description, in bytes: a longer one is
// judged by its beginning.
const maxText = 16 << 10

// The lexicon. Each expression matches whole words of folded text (lower case,
// single spaces); "local" alone is no claim, since files, time zones and
// repositories are local too.
var (
	localPhrases = compile(
		`(?:purely|entirely|fully|strictly|completely|exclusively|100%|only) local(?:ly)?`,
		`(?:runs?|running|works?|executes?|executed|processe[sd]|computed|done|performed|stays?) (?:\w+ )?local(?:ly)?`,
		`local[- ]only`, `local computation`, `in[- ]memory only`,
		`(?:works?|runs?|fully|entirely|completely|purely) offline`, `offline(?:[- ]only)? (?:tool|operation|processing|conversion|calculation)`,
		`(?:no|without(?: any| the)?|requires? no|needs? no|makes? no|never (?:uses?|touches|accesses|needs)(?: the)?|does not (?:use|need|require|access|touch|make)(?: any| the)?|doesn't (?:use|need|require|access|touch|make)(?: any| the)?) (?:network|internet|external|remote|outbound|http)(?: (?:access|connections?|calls?|requests?|services?|apis?|traffic))?`,
		`(?:data |text |input |nothing )?never leaves (?:your |the |this )?(?:machine|computer|device|host)`,
	)
	networkPhrases = compile(
		`https?`, `urls?`, `uris?`, `websites?`, `web ?pages?`, `web`, `internet`, `online`, `download(?:s|ed|ing)?`, `upload(?:s|ed|ing)?`,
		`fetch(?:es|ed|ing)? (?:\w+ ){0,4}(?:from|contents?|pages?|data)`, `apis?`, `remote`, `network`, `endpoints?`, `webhooks?`, `search engine`,
		`(?:send|sends|post|posts) (?:\w+ ){0,4}to`, `browse[rs]?`, `e-?mails?`, `clone[sd]?`, `registry`, `servers?`,
		`(?:service|provider|bank|exchange|office|institute|agency|authority|station|portal|publisher|vendor|catalogu?e?) (?:is|are|gets) (?:asked|queried|polled|contacted)`,
	)
	execPhrases = compile(
		`(?:run|runs|execute|executes|executing|running|invoke|invokes|spawn|spawns|launch|launches) (?:\w+ ){0,4}(?:commands?|scripts?|programs?|process(?:es)?|code|binary|shell|browser|tests?|linter|compiler|git)`,
		`shell`, `terminal`, `command line`, `subprocess(?:es)?`, `child process(?:es)?`, `executables?`,
	)
	environmentPhrases = compile(
		`(?:all )?environment variables?`, `env(?:ironment)? vars?`, `process\.env`, `environ`, `printenv`,
		// The environment that something is done for is nature's.
		`(?:show|shows|print|prints|list|lists|return|returns|dump|dumps|get|gets|read|reads|inspect|inspects|display|displays|describe|describes|of) (?:all of )?the (?:\w+ ){0,2}environment`,
		`the environment (?:of|in which|that) (?:the|this|a) (?:\w+ )?(?:server|process|program|session|shell)`,
	)
	writePhrases = compile(
		`(?:write|writes|writing|save|saves|saving|create|creates|creating|edit|edits|update|updates|updating|modify|modifies|append|appends|move|moves|rename|renames|add|adds|insert|inserts|store|stores|persist|persists|commit|commits|stage|stages|generate|generates|record|records|export|exports|download|downloads|init|initiali[sz]e|checkout|switch|switches|reset|resets|apply|applies|install|installs|set|sets|put|toggle|toggles|compress|zip|cache|caches)`,
	)
	deletePhrases = compile(
		`(?:delete|deletes|deleting|remove|removes|removing|unlink|erase|erases|clear|clears|drop|drops|purge|wipe|clean|cleans|prune|move|moves|rename|renames|overwrite|overwrites|replace|replaces|reset|resets|discard|discards|checkout|switch|switches)`,
	)
	// confinedPhrases promise that a tool stays in some directory.
	confinedPhrases = compile(
		`(?:allowed|permitted) (?:director(?:y|ies)|folders?|paths?|roots?)`, `sandboxed`, `(?:relative to|confined to|restricted to|limited to) (?:the |its |a )?(?:\w+ ){0,2}(?:director(?:y|ies)|folder|root|workspace|vault)`,
		`(?:in|from|within|inside|under|below|of) (?:the |its |your |this )?(?:\w+ ){0,2}(?:workspace|vault|(?:notes?|base|data|docs?|documents?|project|root|uploads?|storage|templates?|content|knowledge|reports?|working) (?:director(?:y|ies)|folder))`,
	)
	// anyPathPhrases say that a path may be any, and refusalPhrases that some are not taken.
	anyPathPhrases = compile(
		`(?:or|and) (?:an )?absolute(?: (?:one|path|paths))?`, `(?:absolute or relative|absolute and relative)`, `anywhere on (?:this|the|your|its) (?:machine|computer|disk|system|host)`, `any (?:file|path|folder|directory) (?:on|of) (?:this|the|your|its) (?:machine|computer|disk|system|host)`, `may be anywhere`,
	)
	refusalPhrases = compile(
		`(?:refuses?|refused|rejects?|rejected|denied|denies|forbids?|forbidden|disallow(?:s|ed)?|blocks?|blocked|not allowed|invalid|errors?|fails?|must not|may not|cannot|can't|never|no|without|nor|neither)`,
	)
	// outwardPhrases promise that a tool asks no machine within.
	outwardPhrases = compile(
		`(?:public|external) (?:urls?|sites?|websites?|pages?|web ?pages?|hosts?|addresse?s?|internet)`, `(?:block|reject|refuse|den(?:y|ie)|forbid|prevent)(?:s|ed|ing)? (?:\w+ ){0,4}(?:private|internal|local|loopback|metadata)`,
		`(?:allowed|allow[- ]?list(?:ed)?|permitted|approved|trusted) (?:hosts?|domains?|urls?|sites?)`, `ssrf`,
	)
	// shellPhrases and codePhrases give a tool the purpose of running what it is handed.
	shellPhrases = compile(
		`(?:any|given|arbitrary|shell|bash|system|terminal|console|command[- ]line) commands?`, `(?:run|runs|execute|executes|running|executing) (?:a |the |your )?commands?`,
		`shell scripts?`, `command line`, `in (?:a|the) (?:shell|terminal)`,
	)
	codePhrases = compile(
		`(?:run|runs|running|execute|executes|executing|evaluate|evaluates|evaluating|eval|interpret|interprets) (?:\w+ ){0,3}(?:code|snippets?|(?:javascript|typescript|python) (?:scripts?|expressions?|programs?))`,
		`(?:code|script|python|javascript) (?:execution|interpreter|runner)`, `repl`,
	)
)

// pathExample is a path of the user's that a description shows: "such as ~/Pictures/beach.jpg".
var pathExample = lazyregexp.New(`(?:^|[\s("'“‘` + "`" + `])(?:~/|\.{1,2}/|/(?:home|Users|tmp|data|srv|var|mnt|path/to)/|[A-Za-z]:\\)[\pL\pN_.]`)

// The words in an argument's name that say what it carries.
var (
	urlNames     = set("url", "urls", "uri", "uris", "href", "link", "links", "endpoint", "webhook", "host", "hostname", "domain", "website")
	pathNames    = set("path", "paths", "file", "files", "filename", "filepath", "filepaths", "dir", "directory", "directories", "folder", "root", "source", "destination", "src", "dst", "dest", "output", "input", "repo", "repository", "workspace", "cwd", "archive", "tarball")
	commandNames = set("command", "commands", "cmd", "shell", "script", "code", "program", "executable", "argv")
	optionNames  = set("args", "arguments", "options", "flags", "params", "argv", "switches")
	// addressNouns are what an argument is that its description begins with; phraseEnds end
	// that noun phrase, and otherAddresses make another address of it.
	addressNouns   = set("url", "urls", "uri", "uris", "address", "addresses", "host", "hosts", "hostname", "hostnames", "endpoint", "website", "webhook")
	phraseEnds     = set("of", "with", "for", "in", "on", "at", "to", "from", "or", "and", "that", "which", "whose", "where", "e", "eg", "like", "such", "as", "including", "without", "about", "containing", "is", "are", "by")
	otherAddresses = set("mail", "email", "postal", "street", "billing", "shipping", "delivery", "home", "wallet", "bitcoin", "mac", "hardware", "memory", "register", "cell", "i2c", "sender", "recipient", "not", "no")
	savingWords    = set("save", "saves", "saved", "write", "writes", "written", "export", "exported", "store", "stored")
	placeWords     = set("path", "paths", "filepath", "pathname", "directory", "folder")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// compile is an expression for one of some phrases between words.
func compile(alternatives ...string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?:^|[^\pL\pN_])((?:` + strings.Join(alternatives, "|") + `))(?:$|[^\pL\pN_])`)
}

// serverWord is what every server calls itself, and someServer a word before it, by which its texts tell
// itself from another.
var (
	serverWord = lazyregexp.New(`(?i)\bservers?\b`)
	someServer = lazyregexp.New(`(?i)([\pL\pN]+)[\s-]+servers?\b`)
	selfWords  = set("this", "our", "mcp")
)

// withoutSelf takes the word "server" out of a text where it speaks of the server itself. own are the words by
// which only the server's own instructions speak of it: "the", and its name.
func withoutSelf(text string, own map[string]bool) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return someServer.ReplaceAllStringFunc(text, func(found string) string {
		word := someServer.FindStringSubmatch(found)[1]
		if lower := strings.ToLower(word); selfWords[lower] || own[lower] {
			return word
		}
		return found
	})
}

// negation up to three words before a phrase, in the same clause, turns it
// into its opposite, which is no claim.
var negation = lazyregexp.New(`(?:^|[^\pL'])(?:not|never|no|without|cannot|can't|doesn't|don't|isn't|won't|nor|neither)(?: [\pL\pN']+){0,3} $`)

// otherSense are the words of deletePhrases that are an adjective or a noun behind such a word: "a clear summary".
var (
	otherSense  = set("clear", "clean", "drop", "move", "moves", "reset", "checkout", "switch", "switches")
	beforeNouns = lazyregexp.New(`(?:^|[^\pL'])(?:an?|the|its?|your|their|this|that|each|every|in|of|with|by|for|very|more|as|is|are|be|stay|stays|keep|keeps) $`)
)

// find returns a claim for each match that is not negated, at most eight.
func find(re *lazyregexp.Regexp, where, text string) []Claim {
	folded := fold(text)
	var out []Claim
	for at := 0; len(out) < 8; {
		m := re.FindStringSubmatchIndex(folded[at:])
		if m == nil {
			break
		}
		start, end := at+m[2], at+m[3]
		noun := otherSense[folded[start:end]] && beforeNouns.MatchString(folded[:start])
		if !noun && !negation.MatchString(folded[:start]) {
			out = append(out, Claim{Where: where, Text: folded[start:end]})
		}
		at = end
	}
	return out
}

// fold lowers case, turns identifiers (camelCase, snake_case) into words and
// squeezes white space.
func fold(s string) string {
	var b strings.Builder
	lower := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || r == '_':
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.String(), "’", "'")), " ")
}

// words splits text into folded words.
func words(s string) []string {
	return strings.FieldsFunc(fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
