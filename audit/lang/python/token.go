package python

// kind is the type of a token: keywords and operators have one each.
type kind uint8

const (
	kEOF kind = iota
	kError
	kNewline
	kIndent
	kDedent
	kName
	kNumber
	kString
	// An f-string is kFStart, then kFMiddle, fields in braces and kFEnd. In a field a
	// conversion begins with kExclaim, and a format with kFormat.
	kFStart
	kFMiddle
	kFEnd
	kExclaim
	kFormat

	// Keywords.
	kAnd
	kAs
	kAssert
	kAsync
	kAwait
	kBreak
	kClass
	kContinue
	kDef
	kDel
	kElif
	kElse
	kExcept
	kFalse
	kFinally
	kFor
	kFrom
	kGlobal
	kIf
	kImport
	kIn
	kIs
	kLambda
	kNone
	kNonlocal
	kNot
	kOr
	kPass
	kRaise
	kReturn
	kTrue
	kTry
	kWhile
	kWith
	kYield

	// Delimiters and operators.
	kLParen
	kRParen
	kLBracket
	kRBracket
	kLBrace
	kRBrace
	kColon
	kComma
	kSemicolon
	kDot
	kEllipsis
	kArrow
	kWalrus
	kAssign
	kAugAssign
	kPipe
	kCaret
	kAmp
	kShift
	kPlus
	kMinus
	kStar
	kSlash
	kDoubleSlash
	kPercent
	kAt
	kPower
	kTilde
	kLess
	kGreater
	kEqual
	kNotEqual
	kLessEqual
	kGreaterEqual
)

// Flags of a string's token, and of a name's.
const (
	fRaw uint8 = 1 << iota
	fBytes
	fTriple
	// fEscaped: there is a backslash or a carriage return in it.
	fEscaped
	// fWide: there are bytes beyond ASCII in it.
	fWide
	// fSpec: a literal part of a format, in which a brace is never doubled.
	fSpec
	// fInterpolated: an f-string or a t-string.
	fInterpolated
)

// token is one token. Lines and columns count from 1, columns in bytes.
type token struct {
	kind  kind
	flags uint8
	// skip is the length of a string's prefix with its quotes, or the index of a
	// scanning error's text.
	skip            uint8
	start, end      int32
	line, col       int32
	endLine, endCol int32
}

var keywords = map[string]kind{
	"and": kAnd, "as": kAs, "assert": kAssert, "async": kAsync, "await": kAwait, "break": kBreak,
	"class": kClass, "continue": kContinue, "def": kDef, "del": kDel, "elif": kElif, "else": kElse,
	"except": kExcept, "False": kFalse, "finally": kFinally, "for": kFor, "from": kFrom,
	"global": kGlobal, "if": kIf, "import": kImport, "in": kIn, "is": kIs, "lambda": kLambda,
	"None": kNone, "nonlocal": kNonlocal, "not": kNot, "or": kOr, "pass": kPass, "raise": kRaise,
	"return": kReturn, "True": kTrue, "try": kTry, "while": kWhile, "with": kWith, "yield": kYield,
}

// keyword returns the kind of a word. The switch keeps the map away from most names.
func keyword(word string) kind {
	if len(word) < 2 || len(word) > 8 {
		return kName
	}
	switch word[0] {
	case 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'i', 'l', 'n', 'o', 'p', 'r', 't', 'w', 'y', 'F', 'N', 'T':
		if k, ok := keywords[word]; ok {
			return k
		}
	}
	return kName
}

// beginsStatement reports whether a keyword stands only where a statement begins: in
// brackets at the start of a line, it says that a bracket before it was never closed.
func beginsStatement(k kind) bool {
	switch k {
	case kAssert, kBreak, kClass, kContinue, kDef, kDel, kElif, kExcept, kFinally, kGlobal,
		kImport, kNonlocal, kPass, kRaise, kReturn, kTry, kWhile, kWith:
		return true
	}
	return false
}

// Character classes of bytes.
const (
	cName  = 1 << iota // may stand in an identifier
	cStart             // may begin one
	cDigit
	cHex
)

var class [256]uint8

func init() {
	for c := range class {
		switch {
		case c >= '0' && c <= '9':
			class[c] = cName | cDigit | cHex
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			class[c] = cName | cStart | cHex
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
			class[c] = cName | cStart
		}
	}
}
