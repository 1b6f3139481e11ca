package dialect

import "strings"

// tokenKind is what a token of SQL is.
type tokenKind int

const (
	tokenWord   tokenKind = iota // a keyword, a plain name or a number
	tokenName                    // a name in quotes
	tokenText                    // a text in quotes
	tokenSymbol                  // anything else, one byte
)

// token is one of a statement; text is without quotes.
type token struct {
	kind tokenKind
	text string
}

// part is one statement of what a client sent.
type part struct {
	text   string
	tokens []token
}

// maxTokens bounds the tokens of what is sent together.
const maxTokens = 4000

// split cuts a text into its statements. Comments are no tokens. In mysql a backslash escapes
// within quotes, a number sign begins a comment and texts may stand in double quotes.
func split(sql string, mysql bool) []part {
	l := lexer{s: sql, mysql: mysql}
	var out []part
	var tokens []token
	from := 0
	end := func(to int) {
		if len(tokens) > 0 {
			out = append(out, part{text: strings.TrimSpace(sql[from:to]), tokens: tokens})
		}
		tokens = nil
	}
	for range maxTokens {
		t, ok := l.next()
		if !ok {
			break
		}
		if t.kind == tokenSymbol && t.text == ";" {
			end(l.at - 1)
			from = l.at
			continue
		}
		tokens = append(tokens, t)
	}
	end(min(l.at, len(sql)))
	return out
}

type lexer struct {
	s     string
	at    int
	mysql bool
}

// next is the next token, ok false at the end.
func (l *lexer) next() (t token, ok bool) {
	for l.at < len(l.s) {
		rest := l.s[l.at:]
		switch c := rest[0]; {
		case c <= ' ':
			l.at++
		case strings.HasPrefix(rest, "--") || l.mysql && c == '#':
			l.skip(strings.IndexByte(rest, '\n'), 1)
		case strings.HasPrefix(rest, "/*"):
			l.comment()
		case c == '\'':
			return l.quoted('\'', tokenText, l.mysql), true
		case (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'") && !l.mysql:
			l.at++
			return l.quoted('\'', tokenText, true), true
		case c == '"':
			if l.mysql {
				return l.quoted('"', tokenText, true), true
			}
			return l.quoted('"', tokenName, false), true
		case c == '`':
			return l.quoted('`', tokenName, false), true
		case c == '$' && !l.mysql && dollarTag(rest) != "":
			return l.dollar(dollarTag(rest)), true
		case isWord(c):
			n := 1
			for n < len(rest) && (isWord(rest[n]) || rest[n] == '$') {
				n++
			}
			l.at += n
			return token{tokenWord, rest[:n]}, true
		default:
			l.at++
			return token{tokenSymbol, rest[:1]}, true
		}
	}
	return token{}, false
}

// skip goes on behind something that begins at an index of the rest, or to the end.
func (l *lexer) skip(index, length int) {
	if index < 0 {
		l.at = len(l.s)
		return
	}
	l.at += index + length
}

// comment skips one; PostgreSQL's may stand in each other. What MySQL runs of a comment
// ("/*! … */") stays.
func (l *lexer) comment() {
	rest := l.s[l.at:]
	if l.mysql {
		if strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!") {
			l.at += strings.IndexByte(rest, '!') + 1
			return
		}
		l.skip(strings.Index(rest, "*/"), 2)
		return
	}
	depth := 0
	for l.at < len(l.s) {
		rest := l.s[l.at:]
		switch {
		case strings.HasPrefix(rest, "/*"):
			depth++
			l.at += 2
		case strings.HasPrefix(rest, "*/"):
			l.at += 2
			if depth--; depth == 0 {
				return
			}
		default:
			l.at++
		}
	}
}

// quoted reads up to the closing quote; a doubled one stands for itself.
func (l *lexer) quoted(quote byte, kind tokenKind, escapes bool) token {
	var b strings.Builder
	for l.at++; l.at < len(l.s); l.at++ {
		c := l.s[l.at]
		switch {
		case escapes && c == '\\' && l.at+1 < len(l.s):
			l.at++
			b.WriteByte(l.s[l.at])
		case c == quote && l.at+1 < len(l.s) && l.s[l.at+1] == quote:
			l.at++
			b.WriteByte(c)
		case c == quote:
			l.at++
			return token{kind, b.String()}
		default:
			b.WriteByte(c)
		}
	}
	return token{kind, b.String()}
}

// dollarTag is the opening of a text in dollars ("$$", "$body$"), "" where there is none.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '$':
			return s[:i+1]
		case !isWord(s[i]) || i == 1 && s[i] >= '0' && s[i] <= '9':
			return ""
		}
	}
	return ""
}

func (l *lexer) dollar(tag string) token {
	rest := l.s[l.at+len(tag):]
	i := strings.Index(rest, tag)
	if i < 0 {
		l.at = len(l.s)
		return token{tokenText, rest}
	}
	l.at += 2*len(tag) + i
	return token{tokenText, rest[:i]}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// bare is the statement without what stands in quotes and comments.
func (s part) bare() string {
	var b strings.Builder
	for _, t := range s.tokens {
		if b.Len() > maxText {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch t.kind {
		case tokenText:
			b.WriteString("''")
		case tokenName:
			b.WriteString(`""`)
		default:
			b.WriteString(t.text)
		}
	}
	return b.String()
}
