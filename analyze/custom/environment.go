package custom

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// The bounds on an expression.
const (
	maxNodes   = 1_000
	maxNesting = 40 // of brackets and operators
	maxLoops   = 2  // one within the other
	maxPattern = 1_000
	// maxCost bounds one evaluation, in CEL's units: one for a step, a tenth for a character.
	maxCost = 200_000
)

// clocks are CEL's functions of time. No entry holds a time, and zones differ between machines.
var clocks = []string{
	"timestamp", "duration", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds",
	"getMinutes", "getMonth", "getSeconds",
}

// environments are those of each collection, made on first use: it takes milliseconds.
var environments = sync.OnceValues(func() (map[Collection]*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("make the types of expressions: %w", err)
	}
	subset := &env.LibrarySubset{}
	for _, name := range clocks {
		subset.ExcludeFunctions = append(subset.ExcludeFunctions, env.NewFunction(name))
	}
	base, err := cel.NewCustomEnv(
		cel.CustomTypeProvider(provider{registry}), cel.CustomTypeAdapter(registry),
		cel.StdLib(cel.StdLibSubset(subset)),
		cel.CrossTypeNumericComparisons(true),
		cel.ParserExpressionSizeLimit(maxExpression), cel.ParserRecursionLimit(maxNesting), cel.ParserErrorRecoveryLimit(4), cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxPattern),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateComprehensionNestingLimit(maxLoops), ours{}),
		cel.Function("lowerAscii", cel.MemberOverload(lowerID, []*cel.Type{cel.StringType}, cel.StringType, cel.UnaryBinding(lowerASCII))),
		cel.Function("below", cel.MemberOverload(belowID, []*cel.Type{cel.StringType, cel.StringType}, cel.BoolType, cel.BinaryBinding(below))),
	)
	if err != nil {
		return nil, fmt.Errorf("make the environment of expressions: %w", err)
	}
	out := map[Collection]*cel.Env{}
	for _, c := range Collections {
		if out[c], err = base.Extend(cel.Variable(string(c), typeOf(c).cel)); err != nil {
			return nil, fmt.Errorf("make the environment of %s: %w", c, err)
		}
	}
	return out, nil
})

// lengths are what functions cost that read a text to its end, and that CEL counts as a step.
var lengths = func() cel.ProgramOption {
	var options []cost.TrackerOption
	for _, id := range []string{overloads.SizeString, overloads.SizeStringInst, overloads.SizeBytes, overloads.SizeBytesInst, lowerID, belowID} {
		options = append(options, cost.OverloadTracker(id, func(args []ref.Val, _ ref.Val) *uint64 {
			spent := uint64(1)
			if s, ok := args[0].Value().(string); ok {
				spent += uint64(len(s)) / 10
			}
			return &spent
		}))
	}
	return cel.CostTrackerOptions(options...)
}()

// The names of our functions' overloads.
const (
	lowerID = "string_lower_ascii"
	belowID = "string_below_string"
)

// lowerASCII makes the letters A to Z of a text small.
func lowerASCII(v ref.Val) ref.Val {
	s, ok := v.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(v)
	}
	return types.String(strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, string(s)))
}

// below reports whether a path is a directory's or of something in it.
func below(v, dir ref.Val) ref.Val {
	p, ok := v.(types.String)
	d, ok2 := dir.(types.String)
	if !ok || !ok2 {
		return types.MaybeNoSuchOverloadErr(v)
	}
	return types.Bool(p == d || strings.HasPrefix(string(p), strings.TrimSuffix(string(d), "/")+"/"))
}

// ours refuses what CEL allows and no rule needs: patterns that an entry has a say in,
// and objects that an expression makes.
type ours struct{}

// Name implements cel.ASTValidator.
func (ours) Name() string { return "coalmine.rules" }

// Validate implements cel.ASTValidator.
func (ours) Validate(_ *cel.Env, _ cel.ValidatorConfig, a *ast.AST, issues *cel.Issues) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a), ast.AllMatcher()) {
		switch e.Kind() {
		case ast.StructKind:
			issues.ReportErrorAtID(e.ID(), "an expression makes no objects")
		case ast.CallKind:
			call := e.AsCall()
			if call.FunctionName() != "matches" {
				continue
			}
			if args := call.Args(); len(args) == 0 || args[len(args)-1].Kind() != ast.LiteralKind {
				issues.ReportErrorAtID(e.ID(), "the pattern of matches must be written out")
			}
		}
	}
}

// fault is what is wrong with an expression, at its line and column, from 1.
type fault struct {
	line, column int
	what         string
}

// compile checks an expression and makes it ready to run. want is the type that it must have.
func compile(c Collection, expression string, want *cel.Type) (cel.Program, []fault) {
	a, faults := check(c, expression)
	if len(faults) > 0 {
		return nil, faults
	}
	if !a.OutputType().IsExactType(want) {
		return nil, []fault{{1, 1, fmt.Sprintf("it gives %s, and must give %s", a.OutputType(), want)}}
	}
	all, err := environments()
	if err == nil {
		var p cel.Program
		p, err = all[c].Program(a, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(maxCost), lengths)
		if err == nil {
			return p, nil
		}
	}
	return nil, []fault{{1, 1, err.Error()}}
}

// check parses an expression and checks its types.
func check(c Collection, expression string) (_ *cel.Ast, faults []fault) {
	defer func() {
		// A fault of the library must not end a run.
		if f := recover(); f != nil {
			faults = []fault{{1, 1, fmt.Sprintf("cannot be read: %v", f)}}
		}
	}()
	all, err := environments()
	if err != nil {
		return nil, []fault{{1, 1, err.Error()}}
	}
	a, issues := all[c].Compile(expression)
	if issues.Err() == nil {
		return a, nil
	}
	for _, e := range issues.Errors() {
		faults = append(faults, fault{max(1, e.Location.Line()), max(0, e.Location.Column()) + 1, e.Message})
	}
	if len(faults) == 0 {
		faults = []fault{{1, 1, errors.Unwrap(issues.Err()).Error()}}
	}
	return nil, faults
}
