package audit

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
	"github.com/coalmine-dev/coalmine/audit/lang/shell"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// commandFile is a file of commands with what they start.
type commandFile struct {
	path   string
	starts []started
}

// started is the name of a file that a command starts, or gives to a program in whose language it is.
type started struct {
	name string
	as   lang.Language
}

// commands keeps what a script starts, for reach.
func (a *auditor) commands(p, src string) {
	list, isWhole := startedBy(src, min(maxScriptWords, maxAllScriptWords-a.scriptWords))
	if !isWhole {
		a.report.Skipped++
	}
	if len(list) > 0 {
		a.scriptWords += len(list)
		a.scripts = append(a.scripts, commandFile{p, list})
	}
}

// startedBy lists what commands give to an interpreter, and what of other people's code they name.
// isWhole is unset where that was more than the bound.
func startedBy(src string, bound int) (out []started, isWhole bool) {
	src = strings.ReplaceAll(src, "\\\n", " ")
	for command := range strings.FieldsFuncSeq(src, endsCommand) {
		// as is the language of the interpreter, up to its program: the first word that is neither an
		// option nor its value, or the value of an option that takes the program.
		as, isValue, isProgram := lang.Language(nil), false, false
		for w := range strings.FieldsFuncSeq(command, splitsCommand) {
			isOption := strings.HasPrefix(w, "-")
			if (as != nil && !isOption || isSkipped(w)) && strings.ContainsAny(w, "./") && len(w) <= maxWord {
				if len(out) >= bound {
					return out, false
				}
				// A copy does not hold the whole script in memory.
				out = append(out, started{strings.Clone(w), cmp.Or[lang.Language](as, shell.Language{})})
			}
			switch next := runner([]string{w}); {
			case next != nil:
				as, isValue = next, false
			case isOption:
				isValue, isProgram = true, takesProgram(w)
			case isValue && !isProgram:
				isValue = false
			default:
				as = nil
			}
		}
	}
	return out, true
}

func endsCommand(c rune) bool { return strings.ContainsRune("\r\n;&|", c) }

// manner is how a call takes the constants of its file.
type manner struct {
	as                 lang.Language
	isProgram, isFirst bool
}

// constants are those of a file that could be paths. Each manner of calls takes them once.
type constants struct {
	file  *lang.File
	texts []string
	given map[manner]bool
}

// give returns the constants, and none to a call that takes them as one before it.
func (c *constants) give(as lang.Language, isProgram, isFirst bool) []string {
	how := manner{as, isProgram, isFirst}
	if c.given[how] {
		return nil
	}
	if len(c.given) == 0 {
		c.texts = textsOf(c.file)
	}
	c.given[how] = true
	return c.texts
}

// languageNamed is the language whose imports and calls are followed, nil for another.
func languageNamed(name string) lang.Language {
	switch name {
	case "Python":
		return python.Language{}
	case "JavaScript", "TypeScript":
		return javascript.Language{}
	}
	return nil
}

// modules are the names that an import may load from where the walk does not look, as paths. All
// of Python's files the walk knows by their ending, but for those that it left out.
func modules(f *lang.File, i *lang.Import) []string {
	isLeftOut := isSkipped(path.Dir(f.Path))
	if f.Language != "Python" {
		if isLeftOut || strings.HasPrefix(i.Module, ".") || strings.HasPrefix(i.Module, "/") || strings.HasPrefix(i.Module, "file:") {
			return []string{i.Module}
		}
		return nil
	}
	name := strings.TrimLeft(i.Module, ".")
	at := strings.ReplaceAll(name, ".", "/")
	if dots := len(i.Module) - len(name); dots > 0 {
		at = "./" + strings.Repeat("../", min(dots-1, maxDepth)) + at
	}
	out := []string{at}
	for _, n := range i.Names {
		if n.Name != "*" {
			out = append(out, strings.TrimSuffix(at, "/")+"/"+n.Name)
		}
	}
	if isLeftOut {
		return out
	}
	return slices.DeleteFunc(out, func(name string) bool { return !isSkipped(name) })
}

// loads reports whether a call starts or loads what its arguments name.
func loads(language string, c *lang.CallSite) (isStart, isLoad bool) {
	for _, n := range c.Names {
		kinds, _ := sinks.Of(language, n, &c.Call)
		isStart = isStart || slices.Contains(kinds, sinks.Process)
		isLoad = isLoad || slices.Contains(kinds, sinks.Evaluate)
	}
	return isStart, isLoad
}

// wordsOf are the names that the constants of a call's arguments give: each, its words, and what
// a call or an operator within puts together of several.
func wordsOf(c *lang.Call) []string {
	var out []string
	add := func(text string) {
		if len(out) < maxWords && text != "" && len(text) <= maxWord {
			out = append(out, text)
		}
	}
	for _, arg := range c.Args {
		lang.WalkExpr(arg.Value, nil, func(n lang.Node, _ *lang.Scope) bool {
			switch x := n.(type) {
			case lang.Const:
				if x.Kind == lang.String {
					add(x.Text)
					if fields := strings.FieldsFunc(x.Text, splitsCommand); len(fields) > 1 {
						for _, w := range fields {
							add(w)
						}
					}
				}
			case lang.Call:
				add(together(argsOf(&x)))
			case lang.Operation:
				if k, ok := lang.Fold(x); ok {
					add(k.Text)
				}
				add(together(x.Operands))
			case lang.Template:
				add(together(x.Parts))
			case *lang.Function:
				return false
			}
			return len(out) < maxWords
		})
	}
	return out
}

// isNamed reports whether an expression is a name, or text put together with one: then any
// constant of the file may be what it stands for.
func isNamed(x lang.Expr) bool {
	switch x := x.(type) {
	case lang.Name, lang.Attr, lang.Index:
		return true
	case lang.Operation:
		return slices.ContainsFunc(x.Operands, isNamed)
	case lang.Template:
		return slices.ContainsFunc(x.Parts, isNamed)
	}
	return false
}

// textsOf are the constants of a file that could be paths.
func textsOf(f *lang.File) []string {
	var out []string
	for _, k := range lang.CalculateConstants(f) {
		if k.Kind == lang.String && len(k.Text) <= maxWord && strings.ContainsAny(k.Text, "./") && !strings.ContainsAny(k.Text, " \n") && len(out) < maxConstants {
			out = append(out, k.Text)
		}
	}
	return out
}

func splitsCommand(c rune) bool { return strings.ContainsRune(" \t\r\n;&|<>()[]{},'\"`=", c) }

func argsOf(c *lang.Call) []lang.Expr {
	var out []lang.Expr
	for _, a := range c.Args {
		out = append(out, a.Value)
	}
	return out
}

// together joins the constants of a list as path.join does, "" for fewer than two or none of several.
func together(list []lang.Expr) string {
	var parts []string
	for _, x := range list {
		if k, ok := lang.Fold(x); ok && k.Kind == lang.String {
			parts = append(parts, strings.TrimPrefix(k.Text, "/"))
		}
	}
	return path.Join(parts...)
}

// runner is the language in which a command reads its files, by the interpreter that it names,
// nil for none.
func runner(words []string) lang.Language {
	for _, w := range words {
		switch name := strings.TrimRight(path.Base(w), "0123456789."); name {
		case "python", "pypy":
			return python.Language{}
		case "node", "deno", "bun", "tsx", "ts-node":
			return javascript.Language{}
		case "sh", "bash", "dash", "zsh", "ksh", "source":
			return shell.Language{}
		}
	}
	return nil
}

// stringsOf adds the texts in a value of JSON, those of an object in the order of its names.
func stringsOf(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, x := range v {
			out = stringsOf(x, out)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = stringsOf(v[key], out)
		}
	}
	return out
}
