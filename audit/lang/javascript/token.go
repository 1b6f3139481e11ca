package javascript

// kind is the type of a token.
type kind uint8

// The kinds of tokens.
const (
	tEOF kind = iota
	tBad
	tPrivate // #x
	tString
	tNumber
	tRegexp
	tTemplate // without substitutions
	tHead     // `a${
	tMiddle   // }b${
	tTail     // }c`

	tLBrace
	tRBrace
	tLParen
	tRParen
	tLBracket
	tRBracket
	tSemi
	tComma
	tColon
	tDot
	tEllipsis
	tQuestion
	tQuestionDot
	tArrow
	tAt
	tBang
	tTilde
	tInc
	tDec

	tOr
	tNullish
	tAnd
	tBitOr
	tXor
	tBitAnd
	tEq
	tNotEq
	tEqEq
	tNotEqEq
	tLt
	tGt
	tLtEq
	tGtEq
	tShl
	tShr
	tUshr
	tPlus
	tMinus
	tStar
	tSlash
	tPercent
	tPower

	tAssign
	tPlusAssign
	tMinusAssign
	tStarAssign
	tSlashAssign
	tPercentAssign
	tPowerAssign
	tShlAssign
	tShrAssign
	tUshrAssign
	tBitAndAssign
	tBitOrAssign
	tXorAssign
	tAndAssign
	tOrAssign
	tNullishAssign

	tIdent // and the words that are reserved only in places
	tBreak
	tCase
	tCatch
	tClass
	tConst
	tContinue
	tDebugger
	tDefault
	tDelete
	tDo
	tElse
	tEnum
	tExport
	tExtends
	tFalse
	tFinally
	tFor
	tFunction
	tIf
	tImport
	tIn
	tInstanceof
	tNew
	tNull
	tReturn
	tSuper
	tSwitch
	tThis
	tThrow
	tTrue
	tTry
	tTypeof
	tVar
	tVoid
	tWhile
	tWith
	kinds
)

// isName tells whether a token may be the name of a property.
func (k kind) isName() bool { return k >= tIdent }

// isAssign tells whether a token is "=" or another operator that assigns.
func (k kind) isAssign() bool { return k >= tAssign && k <= tNullishAssign }

// isTemplate tells whether a token begins a template.
func (k kind) isTemplate() bool { return k == tTemplate || k == tHead }

// The precedences of the binary operators that the parser names.
const (
	precRelation = 8
	precPower    = 12
)

// precedence holds that of each binary operator; 0 for all other tokens.
var precedence = [kinds]uint8{
	tNullish: 1, tOr: 2, tAnd: 3, tBitOr: 4, tXor: 5, tBitAnd: 6,
	tEq: 7, tNotEq: 7, tEqEq: 7, tNotEqEq: 7,
	tLt: precRelation, tGt: precRelation, tLtEq: precRelation, tGtEq: precRelation, tIn: precRelation, tInstanceof: precRelation,
	tShl: 9, tShr: 9, tUshr: 9, tPlus: 10, tMinus: 10, tStar: 11, tSlash: 11, tPercent: 11, tPower: precPower,
}

// token is one token of a source.
type token struct {
	kind kind
	// newline is set where a line ends between the token before and this one.
	newline bool
	// escaped is set for a name, string or template with a backslash.
	escaped bool
	// start and end are offsets; line and column begin where the token does.
	start, end      int
	line, lineStart int
}

// keyword returns the kind of a word.
func keyword(w string) kind {
	if len(w) < 2 || len(w) > 10 {
		return tIdent
	}
	switch w[0] {
	case 'b', 'c', 'd':
		return keywordToD(w)
	case 'e', 'f', 'i':
		return keywordToI(w)
	case 'n', 'r', 's', 't', 'v', 'w':
		return keywordToW(w)
	}
	return tIdent
}

func keywordToD(w string) kind {
	switch w {
	case "break":
		return tBreak
	case "case":
		return tCase
	case "catch":
		return tCatch
	case "class":
		return tClass
	case "const":
		return tConst
	case "continue":
		return tContinue
	case "debugger":
		return tDebugger
	case "default":
		return tDefault
	case "delete":
		return tDelete
	case "do":
		return tDo
	}
	return tIdent
}

func keywordToI(w string) kind {
	switch w {
	case "else":
		return tElse
	case "enum":
		return tEnum
	case "export":
		return tExport
	case "extends":
		return tExtends
	case "false":
		return tFalse
	case "finally":
		return tFinally
	case "for":
		return tFor
	case "function":
		return tFunction
	case "if":
		return tIf
	case "import":
		return tImport
	case "in":
		return tIn
	case "instanceof":
		return tInstanceof
	}
	return tIdent
}

func keywordToW(w string) kind {
	switch w {
	case "new":
		return tNew
	case "null":
		return tNull
	case "return":
		return tReturn
	case "super":
		return tSuper
	case "switch":
		return tSwitch
	case "this":
		return tThis
	case "throw":
		return tThrow
	case "true":
		return tTrue
	case "try":
		return tTry
	case "typeof":
		return tTypeof
	case "var":
		return tVar
	case "void":
		return tVoid
	case "while":
		return tWhile
	case "with":
		return tWith
	}
	return tIdent
}
