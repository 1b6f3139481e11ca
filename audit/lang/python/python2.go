package python

import "github.com/coalmine-dev/coalmine/audit/lang"

// showsPython2 reports whether the present token, which fits no rule, is the syntax of
// Python 2: print x, exec x, raise E, x, and parameters that are tuples. The scanner
// finds backticks, <>, 0777, 10L and ur"".
func (p *parser) showsPython2() bool {
	if p.i == 0 {
		return false
	}
	first := p.from
	switch p.k {
	case kName, kString, kNumber, kFStart, kNone, kTrue, kFalse, kLambda, kLBrace, kNot:
		return p.i-1 == first && (p.isWord(first, "print") || p.isWord(first, "exec"))
	case kComma:
		return p.toks[first].kind == kRaise
	case kLParen:
		before := p.toks[p.i-1].kind
		return before == kComma && p.toks[first].kind == kDef || before == kLambda ||
			before == kLParen && p.i >= 3 && p.toks[p.i-3].kind == kDef
	}
	return false
}

// bindsAsPython2 reports whether the types of an except clause without parentheses are
// a type and a name that nothing before has mentioned: "except Error, e:" of Python 2.
// The file is read all the same, since Python 3.14 would run it.
func (p *parser) bindsAsPython2(start int, items []lang.Item) bool {
	if len(items) != 2 || p.k != kColon {
		return false
	}
	name, ok := items[1].Value.(lang.Name)
	if !ok || name.ID[0] < 'a' || name.ID[0] > 'z' {
		return false
	}
	if p.mentioned == nil {
		p.mentioned = map[string]int{}
		for i, t := range p.toks {
			if t.kind == kName {
				if _, ok := p.mentioned[p.word(i)]; !ok {
					p.mentioned[p.word(i)] = i
				}
			}
		}
	}
	return p.mentioned[name.ID] > start
}
