package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// aim is what the arguments of a call name among the files that it took away and those of the user's.
type aim struct {
	named []string
	// many says that the arguments may mean more than they name: a list, a pattern, a directory, a limit.
	many bool
	// answered are the files that the answer names.
	answered map[string]bool
}

// maxArgument is how long a text may be to be the name of a file.
const maxArgument = 256

var (
	// patterns are texts that mean what they match.
	patterns = lazyregexp.New(`[*?|^$]|\[.+\]|\{.+,.+\}|\\[dws]`)
	// batchNames are parts of the names of arguments by which a number or a switch means many.
	batchNames = []string{"recursive", "all", "cascade", "purge", "children", "related", "include", "keep", "count", "limit", "max", "days", "age", "older", "before", "after", "since", "last", "first", "top", "batch", "hours", "pattern", "filter"}
)

// aimOf is the aim of a call.
func (m *memory) aimOf(r *Run, call int) *aim {
	if a := m.aims[call]; a != nil {
		return a
	}
	var gone []string
	for i := range r.Profile.Effects {
		if e := &r.Profile.Effects[i]; e.Call == call && e.Rung == finding.RungOpened && e.Noise == "" && isChange(e.Kind) && !slices.Contains(gone, e.Target) {
			gone = append(gone, e.Target)
		}
	}
	a := &aim{answered: map[string]bool{}}
	for _, p := range gone {
		a.answered[p] = strings.Contains(r.Profile.Answers[call].Said, path.Base(p))
	}
	var args any
	d := json.NewDecoder(strings.NewReader(string(r.Args[call])))
	d.UseNumber()
	if d.Decode(&args) == nil {
		r.aims(a, gone, "", args)
	}
	if m.aims == nil {
		m.aims = map[int]*aim{}
	}
	m.aims[call] = a
	return a
}

// aims takes one value of a call's arguments into its aim.
func (r *Run) aims(a *aim, gone []string, name string, value any) {
	batch := func() bool {
		return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(batchNames, w) })
	}
	switch v := value.(type) {
	case map[string]any:
		for key, x := range v {
			r.aims(a, gone, key, x)
		}
	case []any:
		a.many = a.many || len(v) > 0
	case bool:
		a.many = a.many || v && batch()
	case json.Number:
		a.many = a.many || batch()
		a.named = append(a.named, r.filesNamed(gone, v.String())...)
	case string:
		if len(v) > maxArgument {
			return
		}
		a.many = a.many || patterns.MatchString(v) || batch() || r.isAround(gone, v)
		a.named = append(a.named, r.filesNamed(gone, v)...)
	}
}

// isAround reports whether a text is the path of a directory around something that is gone, or of the
// user's.
func (r *Run) isAround(gone []string, text string) bool {
	return slices.ContainsFunc(r.userDirs(), func(w string) bool {
		dir := resolve(w, strings.TrimPrefix(text, "file://"))
		return text != "" && slices.ContainsFunc(gone, func(p string) bool { return p != dir && within(p, dir) })
	})
}

// filesNamed are the files that a text names: by their paths or names, or else by a part of one.
func (r *Run) filesNamed(gone []string, text string) []string {
	text = strings.TrimPrefix(text, "file://")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var out, loose []string
	base := words(path.Base(text))
	for _, p := range slices.Concat(gone, r.plantedBeside(gone)) {
		full, stem := words(path.Base(p)), words(stemOf(p))
		switch {
		case resolve(path.Dir(p), text) == p, slices.Equal(base, full), slices.Equal(base, stem):
			out = append(out, p)
		case slices.ContainsFunc(r.userDirs(), func(w string) bool { return resolve(w, text) == p }):
			out = append(out, p)
		case holdsWords(stem, base), mentionsFile(text, path.Base(p)):
			loose = append(loose, p)
		}
	}
	if len(out) > 0 {
		return out
	}
	return loose
}

// plantedBeside are the files of the user's in the directories of those that are gone.
func (r *Run) plantedBeside(gone []string) []string {
	var out []string
	for p := range r.Planted {
		if slices.ContainsFunc(gone, func(g string) bool { return path.Dir(g) == path.Dir(p) }) && !slices.Contains(gone, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// words are those of a name in lower case, numbers without leading zeros.
func words(name string) []string {
	list := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for i, w := range list {
		if short := strings.TrimLeft(w, "0"); short != "" && strings.Trim(w, "0123456789") == "" {
			list[i] = short
		}
	}
	return list
}

// holdsWords reports whether words stand one after another in others.
func holdsWords(all, some []string) bool {
	for i := range all {
		if len(some) > 0 && len(all)-i >= len(some) && slices.Equal(all[i:i+len(some)], some) {
			return true
		}
	}
	return false
}

// mentionsFile reports whether the name of a file stands by itself in a longer text.
func mentionsFile(text, base string) bool {
	before, _, ok := strings.Cut(text, base)
	return ok && len(base) > 3 && (before == "" || !strings.ContainsAny(before[len(before)-1:], "-_.") && !unicode.IsLetter(rune(before[len(before)-1])) && !unicode.IsDigit(rune(before[len(before)-1])))
}

// stemOf is the name of a file up to its first dot after the beginning.
func stemOf(p string) string {
	base := path.Base(p)
	if i := strings.IndexByte(base[min(1, len(base)):], '.'); i >= 0 {
		return base[:i+1]
	}
	return base
}

// revisions are what follows the name of a file in the names of what belongs to it.
var revisions = lazyregexp.New(`(?i)^[^\pL\pN]+(?:v?\d+|thumb\w*|small|large|medium|meta\w*|bak|backup|draft|orig|old|copy|preview|history)$`)

// belongsTo reports whether a file goes with another: it has the same name with another ending, or lies
// in a directory of that name.
func belongsTo(p, named string) bool {
	stem := stemOf(named)
	if stemOf(p) == stem || slices.Contains(strings.Split(strings.TrimPrefix(p, path.Dir(named)), "/"), stem) || strings.Contains(path.Dir(strings.TrimPrefix(p, path.Dir(named))), "/"+stem+".") {
		return true
	}
	rest, ok := strings.CutPrefix(stemOf(p), stem)
	return ok && rest != "" && !unicode.IsLetter(rune(rest[0])) && !unicode.IsDigit(rune(rest[0])) && (path.Ext(p) != path.Ext(named) || revisions.MatchString(rest))
}

// documents are endings of texts that people write. data are those of records: one directory may hold several
// kinds of them.
var (
	documents = []string{".md", ".markdown", ".txt", ".text", ".rst", ".org", ".adoc"}
	data      = []string{".json", ".jsonl", ".yaml", ".yml", ".toml", ".xml", ".ini", ".db", ".dat", ""}
)

// sameKind reports whether two files are of one kind: texts, records whose names begin alike, or of one ending.
func sameKind(a, b string) bool {
	x, y := strings.ToLower(path.Ext(a)), strings.ToLower(path.Ext(b))
	switch {
	case slices.Contains(documents, x) && slices.Contains(documents, y):
		return true
	case x != y:
		return false
	case !slices.Contains(data, x):
		return true
	}
	letters := func(p string) string {
		s := strings.ToLower(stemOf(p))
		return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsLetter))]
	}
	numbered := strings.ContainsAny(stemOf(a), "0123456789") && strings.ContainsAny(stemOf(b), "0123456789")
	return !numbered || letters(a) == letters(b)
}

// upkeep are parts of paths, and endings, of what a server keeps in order by itself.
var (
	upkeepDirs  = []string{"trash", "bin", "archive", "archives", "archived", "deleted", "backup", "backups", "history", "versions", "cache", "caches", "log", "logs", "tmp", "temp", "index", "thumbnails", "thumbs", "locks", "snapshots"}
	upkeepNames = []string{"index", "manifest", "lock", "cache", "state", "tmp", "temp"}
	upkeepEnds  = []string{".bak", ".tmp", ".temp", ".log", ".lock", ".pid", ".idx", ".index", ".old", ".orig", ".part", ".swp", ".gz", ".pyc", "-wal", "-shm", "-journal", "~"}
)

// isUpkeep reports whether a file is one of a server's own order: a cache, a log, a backup, an index,
// hidden or temporary, or in a trash folder.
func (r *Run) isUpkeep(p string) bool {
	if !r.inAWorkspace(p) && r.isTemporary(p) || !r.isDocument(p) && !r.keeps(p) || r.besideDatabase(p) {
		return true
	}
	lower := strings.ToLower(r.stable(p))
	parts := strings.Split(lower, "/")
	last := len(parts) - 1
	return slices.ContainsFunc(parts[:last], func(part string) bool { return slices.Contains(upkeepDirs, strings.Trim(part, "._")) }) ||
		slices.ContainsFunc(words(stemOf(lower)), func(w string) bool { return slices.Contains(upkeepNames, w) }) ||
		strings.HasPrefix(parts[last], ".") || slices.ContainsFunc(upkeepEnds, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// takesAway reports whether an effect takes a file away, or leaves nothing in it.
func (r *Run) takesAway(e *finding.Effect) bool {
	d, known := r.Profile.Differences[e.Target]
	return e.Kind == finding.FileDelete || e.Kind == finding.FileWrite && known && d.Before.Size > 0 && d.After.Kind == "file" && d.After.Size == 0
}

// isUsers reports whether an effect is on a file that stood there before the server started, or that an
// earlier call made by its name.
func (r *Run) isUsers(e *finding.Effect) bool {
	return r.stoodFiles(e.Target) > 0 || r.madeByName(e)
}

// madeByName reports whether an earlier call made the file of an effect, and its arguments name it.
func (r *Run) madeByName(e *finding.Effect) bool {
	i, ok := r.remembered().firstMade(r)[e.Target]
	if !ok {
		return false
	}
	by := r.Profile.Effects[i].Call
	return by < e.Call && slices.Contains(r.remembered().aimOf(r, by).named, e.Target)
}

// renumbers reports whether the call of an effect also wrote a file of the same directory whose name
// differs in its number: what follows moves up.
func (r *Run) renumbers(e *finding.Effect) bool {
	letters := func(p string) string { return strings.Trim(stemOf(p), "0123456789") + path.Ext(p) }
	if letters(e.Target) == path.Base(e.Target) {
		return false
	}
	return slices.ContainsFunc(r.Profile.Effects, func(o finding.Effect) bool {
		return o.Call == e.Call && o.Kind == finding.FileWrite && o.Target != e.Target && path.Dir(o.Target) == path.Dir(e.Target) && letters(o.Target) == letters(e.Target)
	})
}

// attacks reports whether a call carries an attack input.
func (r *Run) attacks(call int) bool {
	c := r.callOf(call)
	return c != nil && len(c.Oracles) > 0
}
