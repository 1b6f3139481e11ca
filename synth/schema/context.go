package schema

import (
	"encoding/json"
	"math/big"
	"net/url"
	"path"
	"slices"
	"strings"
)

func any2(have []string, wanted ...string) bool {
	for _, w := range wanted {
		if slices.Contains(have, w) {
			return true
		}
	}
	return false
}

// inContext refines a kind by what the tool does: a path is a directory to a
// tool that lists, a new name to one that creates, a path inside the
// repository to one that works on git.
func (g *Generator) inContext(m *meaning, tool []string, desc string) {
	h := &g.opts.Hints
	withGrammar(m, tool, desc)
	git := any2(tool, "git") && h.Repo != ""
	creates := !g.withinDocument(m, tool, desc) && any2(tool, "create", "write", "save", "export", "new", "mkdir", "screenshot", "download", "init", "touch", "snapshot", "start", "take")
	if m.kind == kFile || m.kind == kNewFile {
		m.kind = plausiblePath(m, tool, desc)
	}
	switch m.kind {
	case kFile, kImage:
		g.pathInContext(m, tool, desc, creates, git)
	case kDir:
		if any2(tool, "create", "mkdir") {
			m.kind = kNewDir
		}
	case kNewFile:
		if !h.canPlace() {
			m.kind = kProse
		}
	case kBranch:
		if any2(tool, "create", "new") && !any2(m.words, "base", "source", "from") {
			m.kind = kNewName
		}
	case kNone, kProse:
		if git && any2(m.words, "target", "from", "to", "object", "upstream", "onto", "treeish", "tree") {
			m.kind = kRevision
		}
		if git && any2(m.words, "contain") {
			m.kind = kRevision
		}
	case kToken:
		if any2(tool, "jwt") || strings.Contains(desc, "jwt") {
			m.kind = kJWT
		}
	case kSeconds:
		if strings.Contains(desc, "millisecond") || strings.Contains(desc, "(ms)") {
			m.kind = kMillis
		}
	case kRange:
		table := any2(tool, "range", "cell", "sheet", "excel") || any2(h.Context, "excel", "sheet", "spreadsheet", "workbook") || containsWords(desc, "cell") || containsWords(desc, "a1")
		if table && !strings.Contains(desc, "version") {
			m.kind = kCells
		}
	case kLanguage:
		if strings.Contains(desc, "programming") || any2(tool, "code", "run", "execute", "snippet", "syntax", "parser", "compile", "lint") || any2(h.Context, "programming", "syntax", "parser", "compiler", "linter", "sitter") {
			m.kind = kProgram
		}
	case kMath:
		if any2(tool, "cron") || strings.Contains(desc, "cron") {
			m.kind = kCron
		}
	case kGlob:
		if any2(tool, "regex", "grep") || strings.Contains(desc, "regular expression") || strings.Contains(desc, "regex") {
			m.kind = kRegex
		}
	}
}

// documentParts are what a document has of: a tool that makes one of them works on a document that is there.
var documentParts = []string{"table", "sheet", "worksheet", "row", "cell", "column", "chart", "slide", "paragraph", "heading", "range", "pivot", "comment", "formula", "footnote", "bookmark", "layer"}

// withinDocument reports whether a tool makes a part of a document, and there is one of the type that it works on. What
// names the place of a result is none.
func (g *Generator) withinDocument(m *meaning, tool []string, desc string) bool {
	if !any2(tool, documentParts...) || any2(m.words, "output", "destination", "dest", "dst", "target", "new", "image") {
		return false
	}
	h := &g.opts.Hints
	return len(h.OfType(slices.Concat(m.words, tool, words(desc), h.Context))) > 0
}

// plausiblePath takes back that a name such as "source" means a path where
// nothing else speaks of files: the ends of an edge are called so too.
func plausiblePath(m *meaning, tool []string, desc string) kind {
	if len(m.words) > 1 || any2(m.words, "path", "file", "filename", "filepath", "attachment") {
		return m.kind
	}
	if any2(tool, "file", "path", "directory", "dir", "folder", "move", "copy", "rename", "mv", "cp") ||
		strings.Contains(desc, "file") || strings.Contains(desc, "path") || strings.Contains(desc, "director") {
		return m.kind
	}
	return kName
}

func (h *Hints) canPlace() bool { return len(h.Dirs) > 0 }

func (g *Generator) pathInContext(m *meaning, tool []string, desc string, creates, git bool) {
	h := &g.opts.Hints
	dirTool := any2(tool, "directory", "dir", "folder", "tree", "ls", "list", "search", "find", "glob", "grep") && !any2(tool, "read")
	switch {
	case any2(tool, "clone") && len(h.Dirs) > 0:
		m.kind = kNewDir
	case ofRepository(m, desc) && h.Repo != "":
		m.kind = kRepo
	case git && len(h.RepoFiles) > 0:
		m.kind = kRepoFile
	case any2(m.words, "source", "src"):
	case creates && any2(tool, "directory", "dir", "folder", "mkdir") && len(h.Dirs) > 0:
		m.kind = kNewDir
	case creates || any2(m.words, "output", "destination", "response"):
		if len(h.Dirs) > 0 {
			m.kind = kNewFile
		}
	case dirTool && !any2(m.words, "file") && !ofAFile(desc) && len(h.Dirs) > 0:
		m.kind = kDir
	case strings.Contains(desc, "directory") && !strings.Contains(desc, "file") && len(h.Dirs) > 0:
		m.kind = kDir
	case (m.kind == kImage || any2(tool, "image", "media", "photo", "picture")) && len(h.Images) > 0:
		m.kind = kImage
	}
}

// ofRepository says that a path is a repository's own, and not one within it.
func ofRepository(m *meaning, desc string) bool {
	within := strings.Contains(desc, "relative") || containsWords(desc, "file") || containsWords(desc, "files") || any2(m.words, "file")
	return strings.Contains(desc, "repositor") && !within
}

// ofAFile says that a description speaks of one file, and not of a directory of them.
func ofAFile(desc string) bool {
	return containsWords(desc, "file") && !containsWords(desc, "files") && !strings.Contains(desc, "director") && !strings.Contains(desc, "folder")
}

// removes says that the tool takes away what it is given.
func removes(tool []string) bool {
	return any2(tool, "move", "delete", "remove", "rename", "unlink", "trash", "rm", "mv", "clear")
}

// valuesOf lists what to draw from, the plainest first. What a description
// names comes before what the name suggests, except where the caller has put
// something in place for it.
func (g *Generator) valuesOf(m *meaning, desc string) []string {
	h := &g.opts.Hints
	switch m.kind {
	case kFile:
		if removes(words(g.opts.Tool)) && len(h.Files) > 1 {
			return []string{h.Files[len(h.Files)-1]}
		}
		for _, named := range [][]string{m.words, words(g.opts.Tool), words(desc), h.Context} {
			if list := h.OfType(named); len(list) > 0 {
				return list
			}
		}
		return h.lasting()
	case kImage:
		return h.Images
	case kDir:
		return h.Dirs
	case kRepo:
		return present1(h.Repo)
	case kRepoFile:
		return h.RepoFiles
	case kNewFile:
		return g.newFiles(m, desc)
	case kNewDir:
		return []string{h.newFile("drafts"), h.newFile("archive"), h.newFile("drafts/older")}
	case kURL:
		if strings.Contains(desc, "data uri") || strings.Contains(desc, "data url") {
			return []string{"data:text/plain;base64,aGVsbG8=", "data:text/plain,hello", h.url()}
		}
		base := strings.TrimSuffix(h.url(), "/")
		if h.Repo != "" && (any2(words(g.opts.Tool), "clone") || strings.Contains(desc, "clone")) {
			return []string{h.url(), "file://" + h.Repo}
		}
		return slices.Concat([]string{h.url()}, declaredAddresses(m, g.opts.Description), []string{base + "/index.html", base + "/docs/report.html"})
	case kBranch:
		return append(present1(h.Branch), kindValues[kBranch]...)
	case kTimezone, kRevision, kNewName, kCommand, kCode, kFunction, kHost, kIP:
		return kindValues[m.kind]
	case kSQL:
		return sqlFor(words(g.opts.Tool), h.Context, strings.ToLower(g.opts.Description)+" "+desc)
	}
	list := slices.DeleteFunc(slices.Clone(m.said), func(s string) bool {
		wordy := m.kind == kProse || m.kind == kQuery || m.kind == kTitle || m.kind == kCity || m.kind == kDateTime
		return !wordy && strings.Count(s, " ") > 1
	})
	if len(list) < 2 {
		list = append(list, kindValues[m.kind]...)
	}
	return slices.DeleteFunc(list, elsewhere)
}

// elsewhere is a value that leads out of what was put in place.
func elsewhere(s string) bool {
	return strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.Contains(s, `:\`)
}

func present1(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// newFiles are paths at which nothing is yet, of a type that the tool's name suggests.
func (g *Generator) newFiles(m *meaning, desc string) []string {
	tool := words(g.opts.Tool)
	names := []string{"draft.txt", "draft-2.txt", "minutes.md"}
	switch {
	case any2(tool, "screenshot", "image", "picture", "chart", "diagram"):
		names = []string{"picture.png", "picture-2.png"}
	case any2(m.words, "destination", "dest", "dst", "to", "new"):
		names = []string{"moved.txt", "moved-2.txt", "moved-3.txt"}
	default:
		for _, w := range slices.Concat(m.words, tool, words(desc), g.opts.Hints.Context) {
			if ext := types[w]; ext != "" {
				names = []string{"draft." + ext, "draft-2." + ext, "minutes." + ext}
				break
			}
		}
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = path.Join(g.opts.Hints.dir(), n)
	}
	return out
}

// strings is what to try for a string, in order.
func (m *meaning) strings(d *drawer, t *textual) []string {
	switch m.kind {
	case kFile:
		if len(m.values) > 1 && len(d.g.opts.Hints.Lines) > 0 {
			return d.fileFirst(m.values)
		}
	case kOldText:
		if f := d.file(); f != "" {
			return d.g.opts.Hints.Lines[f]
		}
		return kindValues[kProse]
	case kNone:
		if k, ok := formatKinds[t.loose]; ok {
			return kindValues[k]
		}
	}
	return m.values
}

// file is the one file that a call works on: a text to be replaced must come from it.
func (d *drawer) file() string {
	if d.one == "" {
		var list []string
		for _, f := range d.g.opts.Hints.lasting() {
			if len(d.g.opts.Hints.Lines[f]) > 0 {
				list = append(list, f)
			}
		}
		switch {
		case len(list) == 0:
		case d.class == TypicalRequired:
			d.one = list[0]
		default:
			d.one = list[d.rng.Intn(len(list))]
		}
	}
	return d.one
}

func (d *drawer) fileFirst(list []string) []string {
	f := d.file()
	if f == "" || !slices.Contains(list, f) || d.used {
		return list
	}
	d.used = true
	return []string{f}
}

// likelyType is the type of a property that declares none.
func (m *meaning) likelyType() typeSet {
	if len(kindNumbers[m.kind]) > 0 && len(kindValues[m.kind]) == 0 {
		return tInteger
	}
	return tString
}

// boolean is the value that keeps a call harmless, where there is one.
func (m *meaning) boolean() (value, ok bool) {
	if any2(m.words, "dry") {
		return true, false
	}
	if any2(m.words, "force", "recursive", "overwrite", "background", "permanent") {
		return false, true
	}
	return false, false
}

// guarded says that a value of this kind never comes from the server: it
// could name a command to run or a place to go to.
func (m *meaning) guarded() bool {
	switch m.kind {
	case kURL, kCommand, kCode, kFunction, kSQL, kHost, kIP:
		return true
	}
	return m.fresh()
}

// fresh says that a value of this kind must be new.
func (m *meaning) fresh() bool {
	return m.kind == kNewFile || m.kind == kNewDir || m.kind == kNewName
}

// placed says that the caller has put values of this kind in place.
func (m *meaning) placed() bool {
	switch m.kind {
	case kFile, kDir, kImage, kRepo, kRepoFile, kOldText:
		return len(m.values) > 0
	}
	return false
}

// knownChance is how often in 100 what the dictionary knows is taken: most
// where the name refers to something, as "entityName" and "session_id" do.
func (m *meaning) knownChance(c Class) int {
	switch {
	case c == Learned && (m.kind == kID || m.kind == kName || m.kind == kNone):
		return 100
	case c == Learned:
		return 70 // what another tool took need not be what this one takes
	case c == Sourced:
		return 30
	case c != Typical && c != TypicalFull, m.placed():
		return 0
	case m.kind == kID, m.kind == kName && len(m.words) > 1:
		return 80
	case c == Typical:
		return 30
	}
	return 0
}

// exampleChance is how often in 100 a declared default or example is taken.
func (m *meaning) exampleChance(c Class) int {
	switch m.kind {
	case kFile, kDir, kNewFile, kNewDir, kImage, kRepo, kCommand, kSeconds, kMillis:
		return 0
	case kURL:
		return 90
	}
	if c == TypicalRequired {
		return 90
	}
	return 50
}

// usable are the examples that a call may have. Of addresses those that lead to no host: "otpauth://totp/…" is the form of
// what the tool takes, and a page of the web is one that was not put in place.
func (m *meaning) usable(examples []any) []any {
	if m.kind != kURL {
		return examples
	}
	return slices.DeleteFunc(slices.Clone(examples), func(v any) bool {
		s, _ := v.(string)
		u, err := url.Parse(s)
		return err != nil || u.Scheme == "" || slices.Contains([]string{"http", "https", "ftp", "ftps", "file", "ws", "wss", "ssh", "git", "data", "javascript", "smb", "nfs", "ldap", "redis", "amqp", "mqtt", "postgres", "postgresql", "mysql", "mongodb"}, u.Scheme)
	})
}

func ratText(s string) (*big.Rat, bool) {
	if len(s) > 32 || s == "" || !strings.ContainsAny(s[:1], "-0123456789") || !json.Valid([]byte(s)) {
		return nil, false
	}
	return rat(json.Number(s))
}
