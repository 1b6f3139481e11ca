package audit

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// PartlyParsed is a source of which parts have no tree: nothing tells what they do.
type PartlyParsed struct {
	Path string `json:"path"`
	// Parts counts them, and Bytes their size. Why is the first one's reason.
	Parts int    `json:"parts"`
	Bytes int    `json:"bytes"`
	Why   string `json:"why"`
	// Program says that the server loads the file, as far as its source tells.
	Program bool `json:"program,omitempty"`
}

// Names reports whether a word of a command names the file: its path, or the end of it.
func (u *PartlyParsed) Names(word string) bool {
	word = path.Clean(word)
	return word == u.Path || strings.HasSuffix(word, "/"+u.Path) || strings.HasSuffix(u.Path, "/"+word)
}

// extent is the size of a source, how much of it was read into a tree, and what was not.
type extent struct {
	size, parsed int
	unread       PartlyParsed
	language     string
}

// foreign are the endings of languages that no parser here reads.
var foreign = words(".rs .rb .java .kt .kts .scala .groovy .clj .cs .fs .vb .php .swift .m .mm .c .cc .cpp .cxx .h .hpp .pl .pm .lua .r .jl .ex .exs .erl .hs .ml .dart .zig .nim .cr .d .pas .ps1 .psm1 .bat .cmd .tcl .elm")

// IsForeign reports whether a file of this name is code that no parser here reads.
func IsForeign(name string) bool { return foreign[strings.ToLower(path.Ext(name))] }

// measure keeps the size of a file that is code, whether somebody parses it or not.
func (a *auditor) measure(p string, data []byte, as lang.Language) {
	isForeign := IsForeign(p) || bytes.HasPrefix(data, []byte("#!"))
	if e := a.extents[p]; e != nil || isTypes(p) || !isForeign && !isCode(p) && (as == nil || isData(p)) {
		return
	}
	a.extents[p] = &extent{size: len(data)}
}

// isRead keeps how much of a file has a tree. A file that is a program in two ways keeps the
// reading of which more is known.
func (a *auditor) isRead(p string, size int, f *lang.File) {
	a.counted(f.Language, len(f.Unread))
	e := &extent{size: size, parsed: size, language: f.Language}
	if was := a.extents[p]; was != nil && was.parsed > 0 {
		return
	}
	for _, u := range f.Unread {
		e.unread.Bytes += max(u.End.Offset()-u.Start.Offset(), 0)
	}
	if len(f.Unread) > 0 && len(f.Body) == 0 {
		e.unread.Bytes = size
	}
	e.unread.Bytes = min(e.unread.Bytes, size)
	e.parsed -= e.unread.Bytes
	if len(f.Unread) > 0 {
		e.unread.Path, e.unread.Parts, e.unread.Why = p, len(f.Unread), text.Printable(f.Unread[0].Why, maxName)
	}
	a.extents[p] = e
}

// aside are directories whose code is no part of the server, unless it loads it.
var aside = words("test tests __tests__ testdata fixtures __fixtures__ spec example examples sample samples doc docs benchmark benchmarks")

// isAside reports whether a file is a test or a sample by its path.
func isAside(p string) bool {
	dir, name := path.Split(strings.ToLower(p))
	for part := range strings.SplitSeq(dir, "/") {
		if aside[part] {
			return true
		}
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec")
}

// extent sums up how much of the code was parsed, and lists what was not.
func (a *auditor) extent(pkg *sinks.Package) {
	var partly []PartlyParsed
	loaded := map[string]bool{}
	for _, e := range a.extents {
		if e.unread.Parts > 0 {
			loaded = a.imported(pkg)
			break
		}
	}
	p := &a.report.Profile
	all, parsed := int64(0), int64(0)
	counts := func(name string) bool { return !isAside(name) || loaded[name] || a.loaded[name] }
	for name, e := range a.extents {
		all += int64(e.size)
		parsed += int64(e.parsed)
		if counts(name) {
			p.CodeBytes += int64(e.size)
			p.ParsedBytes += int64(e.parsed)
		}
		if u := e.unread; u.Parts > 0 {
			u.Program = runs(e.language, name) && (loaded[name] || a.loaded[name])
			u.Path = text.Printable(u.Path, 2*maxName)
			partly = append(partly, u)
		}
	}
	if p.CodeBytes == 0 {
		p.CodeBytes, p.ParsedBytes = all, parsed
		counts = func(string) bool { return true }
	}
	a.notRead(counts)
	slices.SortFunc(partly, func(x, y PartlyParsed) int {
		if x.Program != y.Program {
			return map[bool]int{true: -1, false: 1}[x.Program]
		}
		return cmp.Or(y.Bytes-x.Bytes, strings.Compare(x.Path, y.Path))
	})
	a.report.PartlyParsed = partly[:min(len(partly), maxUnfollowed)]
}

// runs reports whether an interpreter runs files of a name in a language. A type
// declaration and a notebook are run by no server, and Go's compiler refuses what does not parse.
func runs(language, p string) bool {
	switch language {
	case "JavaScript", "TypeScript", "Python", "Shell":
		return !isTypes(p) && path.Ext(p) != ".ipynb"
	}
	return false
}

// isTypes reports whether a file declares types alone, by its name.
func isTypes(p string) bool {
	return strings.HasSuffix(p, ".pyi") || isCode(p) && strings.Contains(path.Base(p), ".d.")
}

// imported are the files that the server loads: those with handlers, those that Python begins
// with, and the modules that one of the package's own imports.
func (a *auditor) imported(pkg *sinks.Package) map[string]bool {
	out := map[string]bool{}
	for name := range a.extents {
		if base := path.Base(name); !isAside(name) && (base == "__main__.py" || base == "__init__.py") {
			out[name] = true
		}
	}
	for _, h := range pkg.Handlers() {
		for _, id := range h.Functions {
			// A page that was read as a program may bring a client's handlers along.
			if b, ok := pkg.Body(id); ok && !isAside(b.File.Path) && !isProse(b.File.Path) {
				out[b.File.Path] = true
			}
		}
	}
	calls := map[string][]string{}
	functions := pkg.Functions()
	for i := range functions {
		f := &functions[i]
		for _, id := range f.Calls {
			if module, ok := strings.CutSuffix(id, ":"); ok {
				calls[f.File] = append(calls[f.File], module)
			}
		}
	}
	var queue []string
	for file := range calls {
		if !isAside(file) || out[file] || a.loaded[file] {
			queue = append(queue, file)
		}
	}
	done := map[string]bool{}
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		if done[file] {
			continue
		}
		done[file] = true
		for _, module := range calls[file] {
			out[module] = true
			queue = append(queue, module)
		}
	}
	return out
}

// Shares of the code's bytes that were parsed, of a hundred: below one there is no score, below the other no A.
const (
	EnoughRead = 50
	AlmostAll  = 90
)

// judgeExtent takes the score away, or caps it, where too much of the code was not read.
func (r *Report) judgeExtent(compiled int) {
	p := &r.Profile
	share := p.ParsedShare()
	said := fmt.Sprintf("coalmine parsed %d%% of the code's bytes", share)
	switch {
	case p.CodeBytes == 0 && compiled > 0:
		r.Ungraded = "there are compiled programs and no source"
	case p.CodeBytes == 0 || share >= AlmostAll:
	case p.ParsedBytes == 0:
		r.Ungraded = "coalmine has no parser for any of the code"
	case share < EnoughRead:
		r.Ungraded = said
	case r.Score >= lowestA:
		r.Capped = said
		r.Score = lowestA - 1
		r.Grade = grade(r.Score)
	}
	if r.Ungraded != "" {
		r.Score, r.Grade = 0, grade(0)
	}
}

// ParsedShare is how much of the code's bytes has a tree, of a hundred. It is 100 only for all of them.
func (p *Profile) ParsedShare() int {
	if p.CodeBytes == 0 {
		return 100
	}
	return int(100 * p.ParsedBytes / p.CodeBytes)
}

// NotRead is a kind of code that no parser here reads.
type NotRead struct {
	// Ending is that of the files' names, "" for programs without one.
	Ending string `json:"ending"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	// Example is the largest of the files.
	Example string `json:"example"`
}

// maxNotRead bounds the kinds that a report names.
const maxNotRead = 20

// notRead sums up, by the files' endings, what is code and has no parser.
func (a *auditor) notRead(counts func(name string) bool) {
	kinds, largest := map[string]*NotRead{}, map[string]int{}
	for _, name := range sortedNames(a.extents) {
		e := a.extents[name]
		if e.language != "" || e.size == 0 || !counts(name) || isCode(name) && !IsForeign(name) {
			continue // one of a language with a parser is named among those that were too large
		}
		ending := strings.ToLower(path.Ext(name))
		k := kinds[ending]
		if k == nil {
			k = &NotRead{Ending: text.Printable(ending, maxName)}
			kinds[ending] = k
		}
		k.Files++
		k.Bytes += int64(e.size)
		if e.size > largest[ending] {
			largest[ending], k.Example = e.size, text.Printable(name, 2*maxName)
		}
	}
	list := a.report.NotRead
	for _, k := range kinds {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(x, y NotRead) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), strings.Compare(x.Ending, y.Ending))
	})
	a.report.NotRead = list[:min(len(list), maxNotRead)]
}
