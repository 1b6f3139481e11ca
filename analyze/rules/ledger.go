package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// Ledger explains the effects of a run, in the order of Profile.Effects: nil stands for one
// that nothing explains. The policy counts as an explanation only where it denies nothing.
func Ledger(r *Run) []*finding.Explanation {
	run := *r
	run.memory = nil
	run.allowed, run.named = run.allowedEffects(), map[[2]string]bool{}
	out := make([]*finding.Explanation, len(run.Profile.Effects))
	for i := range out {
		if x, ok := run.Explain(i); ok {
			out[i] = &x
		}
	}
	return out
}

// Explain is what explains the effect at an index of Profile.Effects; ok is false where
// nothing does. What the policy denies, nothing explains.
func (r *Run) Explain(i int) (x finding.Explanation, ok bool) {
	e := &r.Profile.Effects[i]
	switch {
	case r.denied(e):
		return finding.Explanation{}, false
	case e.Noise != "":
		x, ok = ordinary(e.Noise), true
	case r.allowed != nil && r.allowed[i]:
		x, ok = finding.Explanation{Class: finding.ClassPolicy}, true
	case isChange(e.Kind):
		x, ok = r.explainChange(i)
	default:
		x, ok = r.explainOther(e)
	}
	if ok && x.Strength == "" {
		x.Strength = strengthOf(x.Class)
	}
	if ok && x.Strength == finding.StrengthWeak && x.Class != finding.ClassState && e.Noise == "" && r.breaks(e) {
		return finding.Explanation{}, false
	}
	return x, ok
}

// breaks reports whether an effect is against a promise that every tool gives, or the server: a word
// that is mentioned does not take it back.
func (r *Run) breaks(e *finding.Effect) bool {
	if isChange(e.Kind) {
		return r.promised(e, actChanged) != nil
	}
	_, did := r.deedOn(e)
	return r.promised(e, did) != nil
}

// strengthOf is what explanations of a class are worth that say nothing else of themselves.
func strengthOf(c finding.Class) finding.Strength {
	switch c {
	case finding.ClassClaim:
		return finding.StrengthClaimed
	case finding.ClassDefault, finding.ClassState:
		return finding.StrengthWeak
	}
	return finding.StrengthCertain
}

func ordinary(what string) finding.Explanation {
	return finding.Explanation{Class: finding.ClassOrdinary, Text: what}
}

// denied reports whether the policy denies what an effect did.
func (r *Run) denied(e *finding.Effect) bool {
	return r.Policy != nil && slices.ContainsFunc(slices.Concat(r.wants(e), inside(e)), func(w want) bool { return r.verdict(e, w).denied != nil })
}

// explainChange explains a change of a file.
func (r *Run) explainChange(i int) (finding.Explanation, bool) {
	e := &r.Profile.Effects[i]
	if r.names(e) {
		return finding.Explanation{Class: finding.ClassArgument}, true
	}
	if at := r.placeOf(e.Target); at == placeObeyed {
		return r.business(e)
	}
	if r.further(e) {
		return unexplained, false
	}
	switch {
	case r.ServerDir != "" && within(e.Target, r.ServerDir), r.madeBefore(i), r.Left[e.Target]:
		return finding.Explanation{Class: finding.ClassOwn}, true
	case e.Call > 0 && r.placeOf(e.Target) == placeNew && !r.readOnly(e.Tool):
		return finding.Explanation{Class: finding.ClassDefault, Text: "readOnlyHint"}, true
	case r.keeps(e.Target), r.isOwnFile(e.Target), r.besideDatabase(e.Target):
		return finding.Explanation{Class: finding.ClassState}, true
	}
	return r.claimed(e)
}

// surprises reports whether a change is of what other programs obey, and nothing explains it.
func (r *Run) surprises(e *finding.Effect) bool {
	if e.Rung == finding.RungAttempted || r.placeOf(e.Target) != placeObeyed || r.names(e) {
		return false
	}
	_, ok := r.business(e)
	return !ok
}

// minNamed is how long a file's name has to be to count where it stands amid other text.
const minNamed = 8

// readOnly reports whether a tool declares to read only.
func (r *Run) readOnly(tool string) bool {
	t := r.Scope.Tool(tool)
	return t.ClaimsReadOnly()
}

// names reports whether an argument of the effect's call names the changed file, or a
// directory around it that is no wider than a workspace or a directory of HOME. What
// others obey has to be named itself.
func (r *Run) names(e *finding.Effect) bool {
	if e.Call == 0 || len(r.Args[e.Call]) == 0 {
		return false
	}
	at := r.placeOf(e.Target)
	if base := path.Base(e.Target); at == placeNew && len(base) >= minNamed && r.asked(e.Call, base) {
		return true // a name within a command, a query or code
	}
	obeyed, dirs := at == placeObeyed, r.userDirs()
	for _, text := range r.remembered().argTexts(r, e.Call) {
		if text == "" || len(text) > 4096 {
			continue
		}
		for _, w := range dirs {
			p := resolve(w, strings.TrimPrefix(text, "file://"))
			if rest, ok := strings.CutPrefix(text, "~/"); ok {
				p = path.Join(r.Home, rest)
			}
			switch {
			case p == e.Target:
				return true
			case obeyed, p == r.Home, within(r.Home, p):
			case within(e.Target, p) && !slices.ContainsFunc(r.Workspaces, func(w string) bool { return p != w && within(w, p) }):
				return true
			}
		}
	}
	return false
}

// madeBefore reports whether an earlier effect, explained by itself, made the file or a
// directory around it.
func (r *Run) madeBefore(i int) bool {
	made := r.remembered().firstMade(r)
	for p := r.Profile.Effects[i].Target; len(p) > 1; p = path.Dir(p) {
		if j, ok := made[p]; ok && j < i && r.explainedMaking(j) {
			return true
		}
	}
	return false
}

// memory is what the ledger works out once for a run.
type memory struct {
	declared  []declaredText
	sentences []sentence
	texts     map[int][]string
	made      map[string]int
	changed   map[int]int
	readOnly  *bool
	reads     *[]*finding.Effect
	launched  *launch
	nearby    map[moment]bool
	opened    map[string]bool
	written   map[string]*finding.Effect
	aims      map[int]*aim
	promised  map[promised]string
	standing  map[string][]standing
	names     map[string]map[string]bool
}

// promised is a promise that is looked for, and the tool that may give it.
type promised struct{ what, tool string }

func (r *Run) remembered() *memory {
	if r.memory == nil {
		r.memory = &memory{texts: map[int][]string{}}
	}
	return r.memory
}

// argTexts are the strings of a call's arguments.
func (m *memory) argTexts(r *Run, call int) []string {
	list, ok := m.texts[call]
	if !ok {
		var args any
		if json.Unmarshal(r.Args[call], &args) == nil {
			list = texts(args, nil)
		}
		m.texts[call] = list
	}
	return list
}

// firstMade are the files that calls made, with the index of the first effect of each.
func (m *memory) firstMade(r *Run) map[string]int {
	if m.made == nil {
		m.made = map[string]int{}
		for i := range r.Profile.Effects {
			e := &r.Profile.Effects[i]
			if _, known := m.made[e.Target]; !known && e.Kind == finding.FileWrite && e.Rung == finding.RungOpened && e.Call > 0 && e.Noise == "" && !r.stood(e.Target) {
				m.made[e.Target] = i
			}
		}
	}
	return m.made
}

// isStart reports whether a phase is before the first listing.
func isStart(p finding.Phase) bool { return p == finding.PhaseStart || p == finding.PhaseHandshake }

// goesOn reports whether a change is of a log, a lock or the like that the server made when it started. A
// database that it made is data.
func (r *Run) goesOn(e *finding.Effect) bool {
	first := r.remembered().writtenBy(r)[e.Target]
	return e.Kind == finding.FileWrite && !isStart(e.Phase) && isRecord(e.Target) &&
		first != nil && isStart(first.Phase) && first.Noise == "" && r.placeOf(e.Target) != placeObeyed
}

// isRecord reports whether a file is a log, a lock or the number of a process, by its name.
func isRecord(p string) bool {
	dir := path.Base(path.Dir(p))
	return slices.Contains([]string{".log", ".lock", ".pid"}, path.Ext(p)) || dir == "logs" || dir == "log"
}

// explainedMaking reports whether an argument or a claim explains that a file was made.
func (r *Run) explainedMaking(i int) bool {
	e := &r.Profile.Effects[i]
	if r.names(e) {
		return true
	}
	_, ok := r.claimed(e)
	return ok
}

// isOwnFile reports whether a file of HOME or of a workspace has the server's own name:
// ".notes.json" of a server called notes.
func (r *Run) isOwnFile(p string) bool {
	return !r.stood(p) && slices.ContainsFunc(r.userDirs(), func(dir string) bool {
		rest, ok := strings.CutPrefix(p, dir+"/")
		first, _, _ := strings.Cut(rest, "/")
		name, _, _ := strings.Cut(strings.TrimPrefix(first, "."), ".")
		return ok && r.isOwnName(name)
	})
}

// userDirs are the directories of the user's: HOME, where it is known, and the workspaces.
func (r *Run) userDirs() []string {
	dirs := slices.Clone(r.Workspaces)
	if r.Home != "" {
		dirs = append(dirs, r.Home)
	}
	return dirs
}

// sideFiles are what SQLite makes beside a database (sqlite.org/tempfiles.html).
var sideFiles = []string{"-wal", "-shm", "-journal"}

// besideDatabase reports whether a file is one that SQLite makes beside a database which
// the run used.
func (r *Run) besideDatabase(p string) bool {
	for _, s := range sideFiles {
		base, ok := strings.CutSuffix(p, s)
		if ok && slices.ContainsFunc(r.Profile.Effects, func(e finding.Effect) bool { return e.Target == base && e.Kind != finding.FileDelete }) {
			return true
		}
	}
	return false
}

// claimed is what the tool, or else the server, declares that covers a change. What is
// between calls may be the work of any tool. A tool that declares to read only claims nothing,
// and one that declares one change covers no change of many files.
func (r *Run) claimed(e *finding.Effect) (finding.Explanation, bool) {
	tools := []scope.Tool{r.Scope.Purpose}
	switch {
	case e.Tool != "":
		t := r.Scope.Tool(e.Tool)
		if t.ClaimsReadOnly() {
			return finding.Explanation{}, false
		}
		tools = append([]scope.Tool{t}, tools...)
	case r.promisesReadOnly():
		return finding.Explanation{}, false
	default:
		tools = append(tools, r.Scope.Tools...)
	}
	for i := range tools {
		claims := tools[i].Write
		if e.Kind == finding.FileDelete {
			claims = tools[i].Delete
		} else if len(claims) == 0 {
			claims = tools[i].Delete
		}
		if len(claims) > 0 && !tools[i].ClaimsReadOnly() && r.reaches(&tools[i], e.Target) && (!r.inBulk(e) || r.coversMany(&tools[i], e)) {
			return finding.Explanation{Class: finding.ClassClaim, Where: claims[0].Where, Text: claims[0].Text}, true
		}
	}
	return r.worksOn(e)
}

// userFileWords are by which a tool declares to work on the user's files.
var userFileWords = []string{"file", "files", "folder", "folders", "directory", "directories", "document", "documents", "path", "paths", "disk", "trash", "home", "backup", "backups", "dotfiles"}

// reaches reports whether what a tool declares to change may be a file of the user's: moving
// cards of a board moves no documents. A workspace is there to be worked in, and an annotation
// that a tool destroys names no place.
func (r *Run) reaches(t *scope.Tool, target string) bool {
	below, ok := strings.CutPrefix(target, r.Home+"/")
	if !ok || r.Home == "" || !r.stood(target) || slices.ContainsFunc(r.Workspaces, func(w string) bool { return within(target, w) }) {
		return true
	}
	if slices.ContainsFunc(t.Delete, func(c scope.Claim) bool { return c.Where == "annotation" }) {
		return true
	}
	words := strings.FieldsFunc(below, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	said := func(w string) bool { return t.Says(w) || r.Scope.Purpose.Says(w) }
	return slices.ContainsFunc(userFileWords, said) || slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && said(w) }) || len(t.Paths) > 0
}

// obeyedWords are the words by which a tool or server declares to deal with a place that
// others obey, by a part of its path.
var obeyedWords = []struct {
	part  string
	words []string
}{
	{".git", []string{"git", "repository", "commit"}}, {".ssh", []string{"ssh"}}, {".kube", []string{"kubernetes", "kubectl", "kubeconfig"}}, {".docker", []string{"docker"}},
	{".vscode", []string{"vscode", "editor"}}, {"Code", []string{"vscode", "editor"}}, {".cursor", []string{"cursor"}}, {".claude", []string{"claude"}}, {"Claude", []string{"claude"}},
	{".npmrc", []string{"npm"}}, {"package.json", []string{"npm", "package"}}, {".aws", []string{"aws"}}, {"systemd", []string{"systemd"}}, {"cron", []string{"cron", "crontab"}},
	{".npm/", []string{"npm", "cache", "caches"}}, {".cache/", []string{"cache", "caches", "pip", "uv", "yarn", "pnpm", "poetry", "deno", "composer"}}, {"go/pkg/mod", []string{"go", "golang"}}, {".cargo/", []string{"cargo", "rust"}}, {".m2/", []string{"maven"}}, {".gradle/", []string{"gradle"}},
	{".mcp.json", []string{"mcp.json"}}, {"Dockerfile", []string{"docker", "dockerfile"}}, {".github", []string{"workflow", "workflows", "github"}},
}

// business is the word by which the tool, or the server, declares to deal with a place
// that other programs obey. It also has to declare that it changes something.
func (r *Run) business(e *finding.Effect) (finding.Explanation, bool) {
	if _, ok := r.claimed(e); !ok {
		return finding.Explanation{}, false
	}
	t := r.Scope.Tool(e.Tool)
	for _, o := range obeyedWords {
		if !strings.Contains(e.Target, o.part) {
			continue
		}
		for _, w := range o.words {
			if t.Says(w) || r.Scope.Purpose.Says(w) {
				return finding.Explanation{Class: finding.ClassClaim, Where: "description", Text: w}, true
			}
		}
	}
	return r.declaresPlace(e)
}
