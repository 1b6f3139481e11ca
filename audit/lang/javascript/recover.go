package javascript

import "github.com/coalmine-dev/coalmine/audit/lang"

// recover goes on after a failure: it moves to where the next statement may begin and
// notes what it passed over. from is where the statement that failed begins.
func (p *parser) recover(in list, from token) {
	p.failed = false
	p.tok = p.bad
	p.peak = min(p.peak, maxDepth)
	start, why := p.start(), p.why
	if len(p.unread) >= maxUnread-1 {
		why = "the rest, after too many errors"
		p.lines(len(p.src))
		p.next()
	} else {
		p.sync(in, from)
	}
	span := p.span(start)
	if n := len(p.unread); n > 0 && span.Start.Offset() <= p.unread[n-1].End.Offset()+1 {
		if span.End.Offset() > p.unread[n-1].End.Offset() {
			p.unread[n-1].End = span.End
		}
		return
	}
	p.unread = append(p.unread, lang.Unread{Span: span, Why: why})
}

// sync moves to the end of the statement that failed. The end is a semicolon outside of
// brackets that are opened on the way, the brace that closes the list, or a line that
// begins no further right than the failed statement, with a statement's keyword or, outside
// of brackets, a name.
func (p *parser) sync(in list, from token) {
	var open []kind
	before := tSemi
	for first := true; p.tok.kind != tEOF; first = false {
		k := p.tok.kind
		moved := !first || p.tok.start != from.start
		if moved && p.tok.newline && p.tok.start-p.tok.lineStart <= from.start-from.lineStart && (beginsStatement(k) || k == tIdent && len(open) == 0) {
			return
		}
		switch k {
		case tSemi:
			if len(open) == 0 {
				p.next()
				return
			}
		case tCase, tDefault:
			if len(open) == 0 && in == inCase {
				return
			}
		case tRBrace:
			if len(open) == 0 && in != inModule {
				return
			}
			if n := len(open); n > 0 && open[n-1] == tHead {
				p.continueTemplate()
				if k = p.tok.kind; k == tMiddle {
					p.next()
					before = tHead
					continue
				}
			}
			open = pop(open)
		case tRParen, tRBracket:
			open = pop(open)
		case tLBrace, tLParen, tLBracket, tHead:
			open = append(open, k)
		case tSlash, tSlashAssign:
			if !endsOperand(before) {
				p.regexp()
			}
		}
		before = p.tok.kind
		p.next()
		if before == tRBrace && len(open) == 0 && p.tok.newline {
			return
		}
	}
}

func pop(open []kind) []kind {
	if len(open) == 0 {
		return open
	}
	return open[:len(open)-1]
}

// endsOperand tells whether a "/" after such a token divides.
func endsOperand(k kind) bool {
	switch k {
	case tIdent, tPrivate, tString, tNumber, tRegexp, tTemplate, tTail, tRParen, tRBracket, tRBrace, tThis, tSuper, tNull, tTrue, tFalse, tInc, tDec:
		return true
	}
	return false
}

// beginsStatement tells whether a line that begins so is likely a statement.
func beginsStatement(k kind) bool {
	switch k {
	case tImport, tExport, tFunction, tClass, tConst, tVar, tIf, tFor, tWhile, tDo, tReturn, tThrow, tTry, tSwitch, tAt:
		return true
	}
	return false
}
