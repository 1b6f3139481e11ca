package audit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/shell"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Bounds of what the source loads from where the walk does not look.
const (
	// maxReached bounds the files that are reached, and maxLookups the paths that are looked at for them.
	maxReached, maxLookups = 5_000, 2_000_000
	// maxWords bounds the names that one call gives, and maxWord the length of a name.
	maxWords, maxWord = 64, 500
	// maxConstants bounds the constants of a file that may be such names.
	maxConstants = 2_000
	// maxScriptWords bounds what a script or a package.json names, and maxAllScriptWords what all scripts do.
	maxScriptWords, maxAllScriptWords = 20_000, 200_000
)

// taking is a file that is read as a program of a kind.
type taking struct{ path, kind string }

// The kinds of programs. One file may be each of them.
const (
	asCode       = "code" // it has a tree
	asShell      = "shell"
	asDockerfile = "Dockerfile"
)

// takes reports whether a file is read as a program of a kind for the first time.
func (a *auditor) takes(p, kind string) bool {
	t := taking{p, kind}
	if a.taken[t] {
		return false
	}
	a.taken[t] = true
	return true
}

// reach audits what the sources load or start and the walk did not read as code: a file of a
// directory of other people's code, one of documentation, and one with an ending that no
// language has, which Node runs as JavaScript. It returns the package of all sources.
func (a *auditor) reach(ctx context.Context) (*sinks.Package, error) {
	pkg := sinks.NewPackage(a.trees)
	if a.guardsOnly {
		return pkg, nil
	}
	return pkg, newReacher(a).work(ctx, pkg)
}

func newReacher(a *auditor) *reacher {
	return &reacher{auditor: a, seen: map[string]bool{}, asked: map[question]bool{}, queued: map[string]bool{}}
}

// work follows what one file names to further files of each kind, until there are no more. It adds
// the sources among them to the package.
func (r *reacher) work(ctx context.Context, pkg *sinks.Package) error {
	r.queue("package.json")
	first := len(r.trees)
	for manifests, scripts, trees := 0, 0, 0; ; {
		var err error
		switch {
		case manifests < len(r.manifests):
			err = r.manifest(ctx, r.manifests[manifests])
			manifests++
		case scripts < len(r.scripts):
			err = r.run(ctx, r.scripts[scripts])
			scripts++
		case trees < len(r.trees):
			f := r.trees[trees]
			if trees >= first {
				pkg.Add(f)
			}
			err = r.follow(ctx, f, pkg.Facts(f.Path))
			trees++
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reacher follows what sources load.
type reacher struct {
	*auditor
	// seen are the paths that were looked at, and whether a file is there.
	seen map[string]bool
	// asked are the names that were looked up, and lookups counts the paths.
	asked   map[question]bool
	lookups int
	reached int
	// manifests are the files package.json that are to be followed, each once.
	manifests []string
	queued    map[string]bool
	// isGuess is set where what is named may as well be data of the program that is started.
	isGuess bool
	// byAside is set where a test or a sample names it, which nothing loads.
	byAside bool
}

// question is a name that the files of a directory load as a kind of program.
type question struct{ dir, name, kind string }

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
	rest := &constants{file: f, given: map[manner]bool{}}
	for i := range facts.Calls {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.call(ctx, f, &facts.Calls[i], rest); err != nil {
			return err
		}
	}
	return nil
}

// call audits what one call of a source starts or loads.
func (r *reacher) call(ctx context.Context, f *lang.File, c *lang.CallSite, rest *constants) error {
	isStart, isLoad := loads(f.Language, c)
	if !isStart && !isLoad {
		return nil
	}
	words := wordsOf(&c.Call)
	literal := len(words)
	as := runner(words)
	isProgram := isStart && as == nil
	if slices.ContainsFunc(argsOf(&c.Call), isNamed) {
		words = append(words, rest.give(as, isProgram, len(words) == 0)...)
	}
	isUnknown := as == nil && !slices.ContainsFunc(c.Names, lang.Loads)
	defer func() { r.isGuess = false }()
	as = cmp.Or(as, languageNamed(f.Language))
	for i, w := range words {
		if isProgram && i > 0 && isProse(w) {
			continue // a program reads it, and nothing runs it
		}
		r.isGuess = isUnknown || i >= literal && isProse(w)
		if err := r.take(ctx, f.Path, w, as); err != nil {
			return err
		}
	}
	return nil
}

// run audits what a script starts or gives to an interpreter.
func (r *reacher) run(ctx context.Context, s commandFile) error {
	for _, w := range s.starts {
		if err := r.take(ctx, s.path, w.name, w.as); err != nil {
			return err
		}
	}
	return nil
}

// manifest audits what a package.json names as a program or a module, or starts in its scripts.
func (r *reacher) manifest(ctx context.Context, name string) error {
	data, err := r.read(name)
	if err != nil {
		return nil //nolint:nilerr // most packages are not Node's
	}
	var m map[string]any // in a struct, a name in other letters would overrule one that Node reads
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &m) != nil {
		return nil
	}
	words := stringsOf([]any{m["main"], m["module"], "index", m["bin"], m["exports"], m["imports"]}, nil)
	if len(words) > maxScriptWords {
		r.report.Skipped++
	}
	for _, w := range words[:min(len(words), maxScriptWords)] {
		if w == "" {
			continue
		}
		if err := r.take(ctx, name, "./"+strings.TrimPrefix(w, "./"), javascript.Language{}); err != nil {
			return err
		}
	}
	r.commands(name, strings.Join(stringsOf(m["scripts"], nil), "\n"))
	return nil
}

// take audits the file that a name means, if the walk did not read it as code: beside the file
// that has the name, at a directory above, or at the root.
func (r *reacher) take(ctx context.Context, from, name string, as lang.Language) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(name) > maxWord || !strings.ContainsAny(name, "./") && !isSkipped(name) {
		return nil
	}
	r.byAside = isAside(from) && !r.loaded[from]
	q := question{path.Dir(from), name, kindOf(as)}
	if r.lookups > maxLookups || r.asked[q] {
		return nil
	}
	r.asked[q] = true
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
	if !isSkipped(p) {
		return r.one(ctx, p, as) // with another ending, the walk found it
	}
	for _, end := range endings {
		if found, err = r.one(ctx, p+end, as); found || err != nil {
			return found, err
		}
	}
	return r.queue(path.Join(p, "package.json")), nil
}

// queue keeps a package.json to be followed. It reports whether there is one.
func (r *reacher) queue(name string) bool {
	if !r.isFile(name) {
		return false
	}
	if r.queued[name] {
		return true
	}
	r.queued[name] = true
	if !r.isOmitted(name) && r.counts() {
		r.manifests = append(r.manifests, name)
	}
	return true
}

// one audits one file. found says that there is one.
func (r *reacher) one(ctx context.Context, p string, as lang.Language) (found bool, err error) {
	if !r.isFile(p) {
		return false, nil
	}
	if (!r.isGuess || isCode(p)) && !r.byAside {
		r.loaded[p] = true
	}
	t := taking{p, kindOf(as)}
	if r.taken[t] || r.isOmitted(p) || r.searched[p] && isData(p) {
		return true, nil
	}
	// One that turns out to be a program of another kind, or none, is not read again either.
	defer func() { r.taken[t] = true }()
	if !r.counts() {
		return true, nil
	}
	if r.prose[p] {
		delete(r.prose, p)
		r.report.LeftOut--
	}
	return true, r.file(ctx, p, as)
}

// isFile reports whether a file is at a path, false after too many questions.
func (r *reacher) isFile(p string) bool {
	if r.lookups++; r.lookups > maxLookups {
		if r.lookups == maxLookups+1 {
			r.report.Skipped++
		}
		return false
	}
	there, ok := r.seen[p]
	if !ok {
		info, err := fs.Stat(r.files, p)
		there = err == nil && info.Mode().IsRegular()
		r.seen[p] = there
	}
	return there
}

// counts adds a file to those that are reached, and reports whether it may be.
func (r *reacher) counts() bool {
	r.reached++
	if r.reached > maxReached {
		r.report.Skipped++
		return false
	}
	return true
}

// isOmitted reports whether the caller said that a path is no part of the source.
func (r *reacher) isOmitted(p string) bool {
	return slices.ContainsFunc(r.skip, func(dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") })
}

// kindOf is the kind of program that a file in a language is.
func kindOf(as lang.Language) string {
	if as.Name() == (shell.Language{}).Name() {
		return asShell
	}
	return asCode
}
