package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
	"github.com/coalmine-dev/coalmine/audit/lang/shell"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Bounds of what the source loads from where the walk does not look: files, names that one call
// gives, and the length of a name.
const (
	maxReached = 5_000
	maxWords   = 64
	maxWord    = 500
	// maxConstants bounds the constants of a file that may be such names.
	maxConstants = 2_000
	// maxScriptWords bounds the words of a script.
	maxScriptWords = 20_000
)

// passesOver reports whether the walk leaves a directory out, and counts it.
func (a *auditor) passesOver(p string) bool {
	switch {
	case p == ".":
		return false
	case slices.Contains(a.skip, p):
		return true
	case a.isTracked(p):
		return false
	case isStore(path.Base(p)):
		return true // git takes nothing from there
	case isSkipped(p):
		a.report.LeftOut++
		return true
	}
	return a.isIgnored(p, true)
}

// leavesOut is the same for a file.
func (a *auditor) leavesOut(p string) bool {
	if a.isTracked(p) {
		return false
	}
	// Below such a directory the walk came for tracked files alone.
	return isSkipped(path.Dir(p)) || a.isIgnored(p, false)
}

func (a *auditor) isIgnored(p string, isDir bool) bool {
	if !a.ignored.has(p, isDir) {
		return false
	}
	a.report.Ignored++
	return true
}

func (a *auditor) isTracked(p string) bool { return a.tracked != nil && a.tracked(p) }

// isSkipped reports whether a path leads through a directory of other people's code.
func isSkipped(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if skipped[part] {
			return true
		}
	}
	return false
}

// isStore reports whether a directory of this name is a version control system's own.
func isStore(name string) bool { return name == ".git" || name == ".hg" || name == ".svn" }

// isData reports whether whoever loads a file of this name takes it as data.
func isData(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".json", ".jsonc", ".json5", ".toml", ".yaml", ".yml", ".env", ".css", ".svg", ".csv", ".xml", ".lock":
		return true
	}
	return false
}

// machines are how programs of a machine, archives and pictures begin. They are for a probe.
var machines = []string{"\x7fELF", "\x00asm", "MZ", "\xfe\xed\xfa", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "PK", "\x1f\x8b", "\x89PNG", "\xff\xd8", "GIF8"}

// isUnreadCode reports whether a file that is no text is code that is not looked at, though a
// source should stand in its place.
func isUnreadCode(p string, data []byte, isLoaded bool) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".pyc", ".pyo":
		return isLoaded || isSkipped(path.Dir(p))
	}
	return isLoaded && !slices.ContainsFunc(machines, func(m string) bool { return strings.HasPrefix(string(data[:min(len(data), 8)]), m) })
}

// reach audits what the sources load or start and the walk did not read as code: a file of a
// directory of other people's code, one of documentation, and one with an ending that no
// language has, which Node runs as JavaScript. It returns the package of all sources.
func (a *auditor) reach(ctx context.Context) (*sinks.Package, error) {
	pkg := sinks.NewPackage(a.trees)
	if a.guardsOnly {
		return pkg, nil
	}
	r := &reacher{auditor: a, seen: map[string]bool{}}
	for _, f := range a.trees {
		r.seen[f.Path] = true
	}
	first := len(a.trees)
	if err := r.manifest(ctx, "package.json"); err != nil {
		return nil, err
	}
	for i := range a.scripts {
		if err := r.run(ctx, &a.scripts[i]); err != nil {
			return nil, err
		}
	}
	for i := 0; i < len(a.trees); i++ { //nolint:intrange // the list grows meanwhile
		f, facts := a.trees[i], (*lang.Facts)(nil)
		if i < first {
			facts = pkg.Facts(f.Path)
		}
		if facts == nil {
			facts = lang.CalculateFacts(f)
		}
		if err := r.follow(ctx, f, facts); err != nil {
			return nil, err
		}
	}
	if len(a.trees) > first {
		pkg = sinks.NewPackage(a.trees)
	}
	return pkg, nil
}

// reacher follows what sources load.
type reacher struct {
	*auditor
	// seen are the paths that were looked at, and whether a file is there.
	seen    map[string]bool
	reached int
}

// follow audits what one source loads.
func (r *reacher) follow(ctx context.Context, f *lang.File, facts *lang.Facts) error {
	own := languageNamed(f.Language)
	if own == nil {
		return nil
	}
	for _, i := range facts.Imports {
		if i.Types {
			continue
		}
		for _, name := range modules(f, &i) {
			if err := r.take(ctx, f.Path, name, own); err != nil {
				return err
			}
		}
	}
	var constants []string
	for i := range facts.Calls {
		c := &facts.Calls[i]
		isStart, isLoad := loads(f.Language, c)
		if !isStart && !isLoad {
			continue
		}
		words := wordsOf(&c.Call)
		as := runner(words)
		if slices.ContainsFunc(argsOf(&c.Call), isNamed) {
			if constants == nil {
				constants = textsOf(f)
			}
			words = append(words, constants...)
		}
		for i, w := range words {
			if isStart && i > 0 && as == nil && isProse(w) {
				continue // a program reads it, and nothing runs it
			}
			if err := r.take(ctx, f.Path, w, cmp.Or[lang.Language](as, own)); err != nil {
				return err
			}
		}
	}
	return nil
}

// commandFile is a file of commands with its words.
type commandFile struct {
	path  string
	words []string
}

// commands keeps the words of a script, for reach.
func (a *auditor) commands(p, src string) {
	if words := strings.FieldsFunc(src, splitsCommand); len(words) > 0 && len(a.scripts) < maxReached {
		a.scripts = append(a.scripts, commandFile{p, words[:min(len(words), maxScriptWords)]})
	}
}

// run audits what a script starts or gives to an interpreter.
func (r *reacher) run(ctx context.Context, s *commandFile) error {
	for i, w := range s.words {
		as := runner(s.words[max(i-1, 0):i])
		if as == nil && !isSkipped(w) || !strings.ContainsAny(w, "./") {
			continue
		}
		if err := r.take(ctx, s.path, w, cmp.Or[lang.Language](as, shell.Language{})); err != nil {
			return err
		}
	}
	return nil
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
		isLoad = isLoad || slices.Contains(kinds, sinks.Evaluate) || strings.HasSuffix(n, "createRequire()")
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
	out := []string{}
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

// take audits the file that a name means, if the walk did not read it as code: beside the file
// that has the name, at a directory above, or at the root.
func (r *reacher) take(ctx context.Context, from, name string, as lang.Language) error {
	if len(name) > maxWord || !strings.ContainsAny(name, "./") && !isSkipped(name) {
		return nil
	}
	name = strings.TrimPrefix(name, "file://")
	isRelative := strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
	for dir := path.Dir(from); ; dir = path.Dir(dir) {
		p := path.Join(dir, name)
		if fs.ValidPath(p) && p != "." {
			if found, err := r.at(ctx, p, as); found || err != nil {
				return err
			}
		}
		if dir == "." || isRelative && !isSkipped(name) {
			return nil
		}
	}
}

// endings are what an import leaves out.
var endings = []string{"", ".js", ".mjs", ".cjs", ".ts", ".py", ".pyc", "/index.js", "/index.mjs", "/index.cjs", "/__init__.py", "/__main__.py"}

// at audits the file at a path, or the one that an import of the path means.
func (r *reacher) at(ctx context.Context, p string, as lang.Language) (found bool, err error) {
	list := endings
	if !isSkipped(p) {
		list = list[:1] // with another ending, the walk found it
	}
	for _, end := range list {
		if found, err = r.one(ctx, p+end, as); found || err != nil {
			return found, err
		}
	}
	if !isSkipped(p) {
		return false, nil
	}
	manifest := path.Join(p, "package.json")
	if info, err := fs.Stat(r.files, manifest); err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	return true, r.manifest(ctx, manifest)
}

// one audits one file. found says that there is one.
func (r *reacher) one(ctx context.Context, p string, as lang.Language) (found bool, err error) {
	if there, ok := r.seen[p]; ok {
		return there, nil
	}
	info, err := fs.Stat(r.files, p)
	r.seen[p] = err == nil && info.Mode().IsRegular()
	if !r.seen[p] {
		return false, nil //nolint:nilerr // nothing is loaded from there
	}
	if slices.ContainsFunc(r.skip, func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }) {
		return true, nil
	}
	if r.searched[p] && isData(p) {
		return true, nil
	}
	if r.reached++; r.reached > maxReached {
		r.report.Skipped++
		return true, nil
	}
	if isProse(p) && !isSkipped(p) {
		r.report.LeftOut--
	}
	return true, r.file(ctx, p, as)
}

// manifest audits what a package.json names as a program or a module.
func (r *reacher) manifest(ctx context.Context, name string) error {
	data, err := r.read(name)
	if err != nil {
		return nil //nolint:nilerr // most packages are not Node's
	}
	var m struct {
		Main, Module         string
		Bin, Exports, Import any
		Scripts              map[string]string
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	words := append([]string{m.Main, m.Module, "index"}, stringsOf(m.Bin, stringsOf(m.Exports, stringsOf(m.Import, nil)))...)
	for _, s := range m.Scripts {
		words = append(words, strings.FieldsFunc(s, splitsCommand)...)
	}
	for _, w := range words[:min(len(words), 20*maxWords)] {
		if w == "" {
			continue
		}
		if err := r.take(ctx, name, "./"+strings.TrimPrefix(w, "./"), javascript.Language{}); err != nil {
			return err
		}
	}
	return nil
}

// stringsOf adds the texts in a value of JSON.
func stringsOf(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, x := range v {
			out = stringsOf(x, out)
		}
	case map[string]any:
		for _, x := range v {
			out = stringsOf(x, out)
		}
	}
	return out
}
