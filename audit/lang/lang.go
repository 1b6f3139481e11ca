package lang

import "strings"

// Language reads the sources of one language. Its methods may be called from several
// goroutines at once.
type Language interface {
	// Name is the language's usual name: "Python", "JavaScript".
	Name() string
	// Owns reports whether a file is of this language, from its path below the root of
	// the source and its first bytes (at most 512, for a "#!" line).
	Owns(path string, head []byte) bool
	// Parse reads one file. It never fails as a whole: what could not be parsed is in
	// File.Unread, and the rest is in the tree.
	Parse(path string, src []byte) *File
}

// File is one parsed source.
type File struct {
	// Path is the path below the root of the source, with slashes.
	Path string
	// Language is the Name of the language that parsed it.
	Language string
	// Body holds the statements of the module itself, in the order of the source.
	Body []Stmt
	// Unread are the parts without a tree.
	Unread []Unread
	// Lines are, for code that stands within another format, the lines of the source for
	// each line of the tree. They are nil where these are the same.
	Lines []int
}

// Unread is a part of a source that could not be parsed.
type Unread struct {
	Span
	// Why says it in a few words, without bytes of the source.
	Why string
}

// Pos is a place in a source. Each node of a tree has two, so they are small: a source has fewer
// than 2 GiB.
type Pos struct{ offset, line, column int32 }

// At is the place at an offset, which counts bytes from 0. The line and the column count from 1.
func At(offset, line, column int) Pos {
	return Pos{int32(offset), int32(line), int32(column)} //nolint:gosec // a source has fewer bytes than that
}

// Plus is the place some bytes further in the same line.
func (p Pos) Plus(bytes int) Pos { return At(p.Offset()+bytes, p.Line(), p.Column()+bytes) }

// Offset counts bytes from 0.
func (p Pos) Offset() int { return int(p.offset) }

// Line counts from 1.
func (p Pos) Line() int { return int(p.line) }

// Column counts bytes from 1.
func (p Pos) Column() int { return int(p.column) }

// Span is a part of a source: from Start to before End.
type Span struct{ Start, End Pos }

// Place returns the span itself. Each node has it by embedding.
func (s Span) Place() Span { return s }

// Node is an expression or a statement.
type Node interface{ Place() Span }

// Expr is an expression: one of Name, Const, Attr, Index, Call, Operation, Template,
// Collection, Spread, Assign, *Function or *Class.
type Expr interface {
	Node
	isExpr()
}

// Stmt is a statement: one of ExprStmt, Assign, Return, If, Loop, Switch, Try, With,
// Block, Jump, Import, Export, *Function or *Class.
type Stmt interface {
	Node
	isStmt()
}

// Name is the use of an identifier: x, this, super.
type Name struct {
	Span
	ID string
}

// ConstKind is the type of a constant.
type ConstKind string

// The kinds of constants.
const (
	String ConstKind = "string"
	Bytes  ConstKind = "bytes"
	Number ConstKind = "number"
	Bool   ConstKind = "bool"
	// Null is Python's None, null and undefined as a literal.
	Null ConstKind = "null"
	// Regexp is a literal such as /a+/g: Text is as it is written, and SplitRegexp takes it apart.
	Regexp ConstKind = "regexp"
)

// Const is a literal. Adjacent literals that the language joins are one Const.
type Const struct {
	Span
	Kind ConstKind
	// Text is the value: a string with its escapes decoded, the bytes, a number as it
	// is written, "true" or "false".
	Text string
}

// SplitRegexp takes the text of a Regexp apart.
func SplitRegexp(text string) (pattern, flags string) {
	end := strings.LastIndexByte(text, '/')
	if end < 1 {
		return text, ""
	}
	return text[1:end], text[end+1:]
}

// Attr is x.Name; x?.Name is the same.
type Attr struct {
	Span
	X    Expr
	Name string
}

// Index is x[Key]. A slice has two or three keys; a missing bound is nil.
type Index struct {
	Span
	X    Expr
	Keys []Expr
}

// Arg is an argument of a call.
type Arg struct {
	// Name is that of a keyword argument, "" for one by position.
	Name  string
	Value Expr
}

// Call is Func(Args…). Decorators and tagged templates are calls too.
type Call struct {
	Span
	Func Expr
	Args []Arg
	// New is set for new X(…).
	New bool
}

// Operation is an operator with its operands: "+", "and", "not", "in", "?:", "await",
// "yield", "typeof", "comprehension", "generator". The operands are in the order of the source. A
// chain of one operator may be one Operation: a + b + c has three operands.
type Operation struct {
	Span
	Op       string
	Operands []Expr
}

// Template is an interpolated string: an f-string or a template literal. Constant
// pieces are Consts.
type Template struct {
	Span
	Parts []Expr
}

// CollectionKind is the type of a collection.
type CollectionKind string

// The kinds of collections.
const (
	// List is an array too.
	List  CollectionKind = "list"
	Tuple CollectionKind = "tuple"
	Set   CollectionKind = "set"
	// Dict is an object too.
	Dict CollectionKind = "dict"
)

// Collection is a list, tuple, set, dict, array or object literal. It is also the
// pattern of one, as a target.
type Collection struct {
	Span
	Kind  CollectionKind
	Items []Item
}

// Item is one element. Key is nil where the collection has none. A key that is a plain
// word, as in {a: 1}, is a Const.
type Item struct{ Key, Value Expr }

// Spread is *x, **x or ...x.
type Spread struct {
	Span
	X Expr
}

// Assign binds values to targets; it is a statement, or an expression as in x := y.
type Assign struct {
	Span
	// Targets are names, attributes, indexes or collections of them. a = b = c has two.
	Targets []Expr
	// Op is "=" or the operator of an augmented assignment, "+=", or "type" for the
	// declaration of a type's name that is evaluated.
	Op string
	// Annotation is that of the target, which Python evaluates; nil for none.
	Annotation Expr
	// Value is nil for a declaration without one.
	Value Expr
	// Declares is the keyword where the targets are new names of a scope: "const",
	// "let", "var" or "using". Python has none.
	Declares string
}

// Param is a parameter of a function.
type Param struct {
	Span
	// Name is "" where a pattern takes the argument apart: then Pattern is set.
	Name    string
	Pattern Expr
	// Default and Annotation are nil where they are missing.
	Default, Annotation Expr
	// Rest is set for *args, **kwargs and ...rest.
	Rest       bool
	Decorators []Expr
}

// Function is a function, a method or a lambda, as a statement or an expression.
type Function struct {
	Span
	// Name is "" for a lambda or an arrow function.
	Name string
	// TypeParams are type parameters whose bounds (Annotation) and defaults are
	// evaluated, as Python does. A language that erases its types leaves them out.
	TypeParams []Param
	Params     []Param
	Decorators []Expr
	// Returns is the annotation of the result, nil for none.
	Returns Expr
	// Body of a lambda or of an arrow with an expression is one Return.
	Body  []Stmt
	Async bool
	// Accessor is "get" or "set" for a method that reading or setting an attribute calls.
	Accessor string
	// Doc is the text of a docstring.
	Doc string
}

// Class is a class, as a statement or an expression. Fields are Assigns in its body,
// methods are Functions.
type Class struct {
	Span
	Name       string
	TypeParams []Param
	Bases      []Arg
	Decorators []Expr
	Body       []Stmt
	Doc        string
}

// ExprStmt is an expression that stands as a statement.
type ExprStmt struct {
	Span
	X Expr
}

// Return is return, raise or throw, by Op. X may be nil.
type Return struct {
	Span
	Op string
	X  Expr
}

// If is a condition. An "else if" is an If alone in Else.
type If struct {
	Span
	Test       Expr
	Then, Else []Stmt
}

// Loop is while, for, for…in, for…of and do…while.
type Loop struct {
	Span
	// Target is bound to the elements of Iter; both are nil for a loop without them.
	Target, Iter Expr
	// Init and Step belong to for(init; test; step).
	Init, Step []Stmt
	Test       Expr
	Body, Else []Stmt
}

// Switch is switch and match.
type Switch struct {
	Span
	Subject Expr
	Cases   []Case
}

// Case is one branch. No patterns mean default.
type Case struct {
	Span
	// Patterns are the values that are compared with; names that a pattern binds are
	// Assigns without a value.
	Patterns []Expr
	Guard    Expr
	Body     []Stmt
}

// Try is a protected block.
type Try struct {
	Span
	Body     []Stmt
	Handlers []Handler
	// Else runs where nothing was raised, Finally always.
	Else, Finally []Stmt
}

// Handler is an except or catch clause. Type is nil where it takes all; Name is what
// binds the error, nil for none.
type Handler struct {
	Span
	Type, Name Expr
	Body       []Stmt
}

// With is a block with resources, or with the names of an object. A declaration with
// "using" is an Assign, for it has no block of its own.
type With struct {
	Span
	// Items are the resources; those with a name are Assigns.
	Items []Expr
	Body  []Stmt
}

// Block is a block of its own.
type Block struct {
	Span
	Body []Stmt
}

// Jump is break, continue, pass, global, nonlocal or delete, by Op.
type Jump struct {
	Span
	Op string
	// Operands are what is deleted or declared.
	Operands []Expr
}

// Import is an import statement, or a re-export from a module. Calls of require,
// import() and importlib are Calls.
type Import struct {
	Span
	// Module is as it is written: "os.path", "node:fs", "./tools.js". A relative import
	// of Python keeps its dots.
	Module string
	// Names are what is imported. None means that the module is loaded for its effects,
	// or, in Python, bound by its own first name.
	Names []ImportName
	// Types is set where only types are imported: nothing is loaded.
	Types bool
	// Exports is set for a re-export: As is what others import, and no name is bound here.
	Exports bool
}

// Export makes names of the module importable. What declares them stands before it. In
// CommonJS, exports are Assigns to exports and module.exports.
type Export struct {
	Span
	// Names are the local Name and the As that others import.
	Names []ImportName
	// Value is exported as "default" where it is an expression without a local name.
	Value Expr
}

// ImportName is one imported name.
type ImportName struct {
	// Name is that in the module: "*" for all of it, "default" for a default export.
	Name string
	// As is the local name; it equals Name where no other is given. A whole module that
	// is bound to a name has Name "*" and that name.
	As string
}

func (Name) isExpr()       {}
func (Const) isExpr()      {}
func (Attr) isExpr()       {}
func (Index) isExpr()      {}
func (Call) isExpr()       {}
func (Operation) isExpr()  {}
func (Template) isExpr()   {}
func (Collection) isExpr() {}
func (Spread) isExpr()     {}
func (Assign) isExpr()     {}
func (*Function) isExpr()  {}
func (*Class) isExpr()     {}

func (ExprStmt) isStmt()  {}
func (Assign) isStmt()    {}
func (Return) isStmt()    {}
func (If) isStmt()        {}
func (Loop) isStmt()      {}
func (Switch) isStmt()    {}
func (Try) isStmt()       {}
func (With) isStmt()      {}
func (Block) isStmt()     {}
func (Jump) isStmt()      {}
func (Import) isStmt()    {}
func (Export) isStmt()    {}
func (*Function) isStmt() {}
func (*Class) isStmt()    {}
