package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// Report is what an audit found.
type Report struct {
	Rubric  string  `json:"rubric_version"`
	Profile Profile `json:"profile"`
	// Score and Grade are the worst, 0 and F, where Ungraded says why they would be no
	// statement about the code: whoever asks for a grade alone gets no pass.
	Score    int    `json:"score"`
	Grade    string `json:"grade"`
	Ungraded string `json:"ungraded,omitempty"`
	// Capped says why Score and Grade are lower than the deductions leave them: not all was read.
	Capped     string            `json:"capped,omitempty"`
	Deductions []Deduction       `json:"deductions"`
	Findings   []finding.Finding `json:"findings"`
	// Skipped counts files that were too large, could not be read or took too long:
	// not looked at, or not to their end.
	Skipped int `json:"skipped"`
	// Unfollowed are the sources that were too large to be parsed: their text was searched,
	// and the ways through them were not. There are at most maxUnfollowed of them.
	Unfollowed []Unfollowed `json:"not_followed,omitempty"`
	// PartlyParsed are sources with parts that have no tree, those that the server loads first.
	// There are at most maxUnfollowed of them.
	PartlyParsed []PartlyParsed `json:"partly_parsed,omitempty"`
	// NotRead are the kinds of code that no parser here reads, tests and samples aside: those
	// with the most bytes first, at most maxNotRead of them.
	NotRead []NotRead `json:"not_read,omitempty"`
	// Suppressed counts the findings that comments of the reader's own tree keep out. Of
	// anybody else's it is 0.
	Suppressed int `json:"suppressed"`
	// Silenced counts the lines whose comments ask scanners to report nothing. They
	// are asked in vain.
	Silenced int `json:"silenced,omitempty"`
	// LeftOut counts directories of other people's code and files of documentation that nothing
	// of the source loads, and Ignored what the reader's own .gitignore files leave out.
	LeftOut int `json:"left_out,omitempty"`
	Ignored int `json:"ignored,omitempty"`
	// Packages are those that lockfiles name, with their versions, in no order.
	Packages []LockedPackage `json:"-"`
	// Repository is the address that the manifest names, "" for none.
	Repository string `json:"-"`
	// Sites are the places that act on the world, where Options asked for them.
	Sites []Site `json:"sites,omitempty"`
	// Guards are the sinks that tools reach under conditions, where Options asked for the sites.
	Guards []Guard `json:"guards,omitempty"`
}

// Unfollowed is a source that was not parsed, with its size in bytes.
type Unfollowed struct {
	Path string `json:"path"`
	Size int    `json:"size"`
}

// maxUnfollowed bounds how many of them a report names.
const maxUnfollowed = 50

// Profile says what was audited.
type Profile struct {
	Path        string `json:"path"`
	Runtime     string `json:"runtime"`
	PackageName string `json:"package_name"`
	Version     string `json:"version"`
	// DependencyCount counts direct dependencies, -1 where no manifest names them.
	DependencyCount int    `json:"dependency_count"`
	FilesScanned    int    `json:"files_scanned"`
	Depth           string `json:"depth"` // "text": patterns; "flow": syntax trees and ways through them too
	// Languages counts the files that were parsed, by language, and Unread the parts of
	// them that have no tree.
	Languages map[string]int `json:"languages,omitempty"`
	Unread    int            `json:"unread_parts,omitempty"`
	// CodeBytes are those of the code, tests and samples aside, and ParsedBytes those of it
	// that have a tree.
	CodeBytes   int64 `json:"code_bytes,omitempty"`
	ParsedBytes int64 `json:"parsed_bytes,omitempty"`
	// Locked counts the packages that each lockfile names.
	Locked map[string]int `json:"locked_packages,omitempty"`
	// Handlers counts the functions at which the ways were begun.
	Handlers int `json:"handlers,omitempty"`
}

// Bounds of an audit: a file, all files, findings of a rule and a severity in a
// file, findings of a severity. What weighs little crowds out nothing that weighs more.
const (
	maxFile     = 16 << 20 // bundles of browsers' tools take eight
	maxFiles    = 100_000
	maxDepth    = 100
	maxRead     = 2 << 30 // bytes of all files, some of which are read again for a place
	maxPerFile  = 20
	maxFindings = 2_000
	// maxParts bounds the pieces in which a file is searched for hidden and directed text.
	maxParts = 1_000
)

// skipped are directories that hold other people's code or none at all. What git tracks in them, or
// the source loads from them, is audited all the same.
var skipped = map[string]bool{"node_modules": true, ".git": true, ".hg": true, ".svn": true, "venv": true, ".venv": true, "site-packages": true, "__pycache__": true, "vendor": true, "coalmine-out": true, ".tox": true, ".mypy_cache": true}

// Skipped reports whether a directory of this name holds other people's code, or none.
func Skipped(name string) bool { return skipped[name] }

// Options say how a tree is audited.
type Options struct {
	// Own says that the tree is the reader's: comments in it that ask for silence are
	// obeyed and counted, and what its .gitignore files name and git does not track is left
	// out. It must not be set for what somebody else made.
	Own bool
	// Tracked reports whether git tracks a path below the root, or a file below it. It is nil
	// where nobody knows.
	Tracked func(name string) bool
	// Servers reads the servers of a client's configuration that lies in the tree, nil for none.
	// Its data is hostile.
	Servers func(name string, data []byte) []Server
	// Skip are paths below the root that are no part of the source.
	Skip []string
	// Sites asks for Report.Sites, with which a run's effects are compared.
	Sites bool
	// Progress takes what is looked at now, a file or a step, and how many files were scanned. It is called
	// for each file, and nil for nobody who looks on.
	Progress func(now string, files int)
}

// Dir audits the tree at root. No link is followed out of it, and nothing is executed.
// No comment in the source keeps a finding out: only the reader's own policy does.
// It honours ctx, also within a file. What lies at the paths in skip, relative to
// root, is no part of the source.
func Dir(ctx context.Context, root string, skip ...string) (*Report, error) {
	return Checkout(ctx, root, Options{Skip: skip})
}

// Checkout is Dir with options.
func Checkout(ctx context.Context, root string, o Options) (*Report, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer func() { _ = dir.Close() }() // it was only read
	return Tree(ctx, dir.FS(), root, o)
}

// Tree audits a file system, which must keep links within it. name is what the report calls it.
func Tree(ctx context.Context, files fs.FS, name string, o Options) (*Report, error) {
	return run(ctx, files, name, lazyScanner{}, o, nil)
}

// run is an audit with a scanner, and with more to be judged before the score.
func run(ctx context.Context, files fs.FS, root string, secrets secretScanner, o Options, more func(*auditor)) (*Report, error) {
	a := newAuditor(files, o.Skip)
	a.progress = o.Progress
	a.own, a.tracked, a.wantsSites, a.servers, a.secrets = o.Own, o.Tracked, o.Sites, o.Servers, secrets
	a.report.Profile.Path = root
	if err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error { return a.visit(ctx, p, d, err) }); err != nil {
		return nil, fmt.Errorf("audit %s: %w", root, err)
	}
	if a.report.Profile.FilesScanned == 0 {
		return nil, fmt.Errorf("audit %s: nothing was checked: no readable file", root)
	}
	pkg, err := a.reach(ctx)
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", root, err)
	}
	a.tell("the data flows")
	a.manifest()
	if more != nil {
		more(a)
	}
	if err := a.flows(ctx, pkg); err != nil {
		return nil, fmt.Errorf("audit %s: %w", root, err)
	}
	slices.SortStableFunc(a.report.Findings, func(x, y finding.Finding) int {
		return y.Severity.Rank() - x.Severity.Rank()
	})
	a.report.Score, a.report.Grade, a.report.Deductions = score(a.report.Findings)
	a.report.judgeExtent(a.compiled)
	return a.report, nil
}

// auditor is one audit under way.
type auditor struct {
	skip []string
	// guardsOnly is set where nothing but the trees is wanted.
	guardsOnly bool
	// wantsSites is set where the report is to list the places that act on the world.
	wantsSites bool
	files      fs.FS
	own        bool
	tracked    func(name string) bool
	ignored    ignores
	// searched are the files that were counted, and whether their text was searched.
	searched map[string]bool
	// prose are the files of documentation that the walk left out, and taken those that were read as programs.
	prose map[string]bool
	taken map[taking]bool
	// extents are the sizes of what is code, by path, loaded the files that something is known to
	// load or start, and compiled counts the programs of a machine.
	extents  map[string]*extent
	loaded   map[string]bool
	compiled int
	// directs are the places of text for a model that were judged.
	directs map[directedAt]bool
	// scripts are the files of commands, which name so many files.
	scripts     []commandFile
	scriptWords int
	// left are the bytes that may still be read.
	left int64
	// building are the files that building the package runs.
	building map[string]bool
	secrets  secretScanner
	servers  func(name string, data []byte) []Server
	progress func(now string, files int)
	report   *Report
	licensed bool
	printed  map[string]bool // fingerprints given
	// given counts the findings of a kind, total those of a severity.
	given map[kind]int
	total map[finding.Severity]int
	// trees are the parsed sources, of so many bytes.
	trees  []*lang.File
	parsed int
}

func newAuditor(files fs.FS, skip []string) *auditor {
	return &auditor{
		files: files, skip: skip, left: maxRead, searched: map[string]bool{}, prose: map[string]bool{}, taken: map[taking]bool{},
		extents: map[string]*extent{}, loaded: map[string]bool{}, building: map[string]bool{}, directs: map[directedAt]bool{},
		printed: map[string]bool{}, given: map[kind]int{}, total: map[finding.Severity]int{},
		report: &Report{Rubric: RubricVersion, Profile: Profile{Depth: "flow", DependencyCount: -1}, Findings: []finding.Finding{}},
	}
}

// tell tells whoever looks on what is looked at.
func (a *auditor) tell(now string) {
	if a.progress != nil {
		a.progress(now, a.report.Profile.FilesScanned)
	}
}

// kind is what findings of one file have in common.
type kind struct {
	rule, path string
	severity   finding.Severity
}

func (a *auditor) visit(ctx context.Context, p string, d fs.DirEntry, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.report.Skipped++
		return nil // an unreadable directory must not end the audit of the others
	}
	if d.IsDir() {
		if a.passesOver(p) {
			return fs.SkipDir
		}
		if strings.Count(p, "/") >= maxDepth {
			a.report.Skipped++
			return fs.SkipDir
		}
		a.readIgnores(p)
		return nil
	}
	if a.leavesOut(p) {
		return nil
	}
	if d.Type()&fs.ModeSymlink != 0 && isCode(p) {
		return a.link(ctx, p)
	}
	if !d.Type().IsRegular() {
		return nil
	}
	if name := strings.ToLower(d.Name()); strings.HasPrefix(name, "license") || strings.HasPrefix(name, "licence") || strings.HasPrefix(name, "copying") {
		a.licensed = true
	}
	if a.report.Profile.FilesScanned >= maxFiles {
		return fmt.Errorf("more than %d files: name a smaller directory", maxFiles)
	}
	return a.file(ctx, p, nil)
}

// link audits what code is linked to: that may bear a name, or lie in a directory,
// that is passed over. A link that leads out of the tree is not followed.
func (a *auditor) link(ctx context.Context, p string) error {
	info, err := fs.Stat(a.files, p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it leads nowhere
	case err != nil:
		a.report.Skipped++
		return nil
	case !info.Mode().IsRegular():
		return nil
	}
	return a.file(ctx, p, nil)
}

// file audits one file. as is the language of whoever loads it, nil where nobody is known to.
func (a *auditor) file(ctx context.Context, p string, as lang.Language) error {
	a.tell(p)
	if as == nil && isForAgents(p) {
		return a.instructions(ctx, p)
	}
	if as == nil && isProse(p) {
		a.report.LeftOut++
		a.prose[p] = true
		return a.readme(ctx, p)
	}
	data, err := a.read(p)
	if err != nil {
		a.report.Skipped++
		return nil
	}
	if _, isCounted := a.searched[p]; !isCounted {
		a.report.Profile.FilesScanned++
		a.searched[p] = false
	}
	if a.guardsOnly {
		if len(data) <= maxGuardFile && a.parsed+len(data) <= maxGuardBytes && isCode(p) {
			a.parse(p, data, nil)
		}
		return nil
	}
	if isMachine(data) {
		a.compiled++
	}
	if !isSource(p) && !bytes.HasPrefix(data, []byte("#!")) && secrets.IsBinary(data) && (as == nil || !utf8.Valid(data)) {
		if isUnreadCode(p, data, as != nil) {
			a.report.Skipped++
		}
		return nil
	}
	a.measure(p, data, as)
	a.parse(p, data, as)
	if a.searched[p] {
		return nil // somebody loads it, as was found after its text was searched
	}
	a.searched[p] = true
	return a.search(ctx, p, string(data), as != nil)
}

// search looks for what the text of a file says. isLoaded is set where somebody runs it.
func (a *auditor) search(ctx context.Context, p, src string, isLoaded bool) error {
	if isLockfile(p) {
		a.lockfile(p, src)
	}
	a.configurations(p, src)
	if isCode(p) || isLoaded {
		a.encoded(p, src)
	}
	a.pathFile(p, src)
	a.silencers(p, src)
	secrets, err := a.secrets.scan(ctx, p, src)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.report.Skipped++ // looked at in part: what was found stands
	}
	for _, h := range secrets {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		message := "a secret in the source: "
		if h.published {
			message = "a sample of a secret, which its issuer publishes: "
		}
		a.add(SecretHardcoded, h.severity, p, src, h.offset, message+h.what, h.what)
	}
	if isMetadata(p) {
		return a.directed(ctx, p, src, inProse(src)) // it holds the README
	}
	return a.directed(ctx, p, src, func(*text.Hit) bool { return false })
}

func (a *auditor) read(p string) ([]byte, error) {
	f, err := a.files.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	// The size that the file says saves copies; it is not believed.
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(min(max(info.Size(), 0), maxFile)) + bytes.MinRead)
	}
	_, err = b.ReadFrom(io.LimitReader(f, min(maxFile+1, a.left)))
	data := b.Bytes()
	if err != nil {
		return nil, err
	}
	if a.left -= int64(len(data)); a.left <= 0 {
		return nil, fmt.Errorf("more than %d bytes were read", int64(maxRead))
	}
	if len(data) > maxFile && !isSource(p) && secrets.IsBinary(data) {
		return data[:maxFile], nil
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", p, maxFile)
	}
	return data, nil
}

// isSource reports whether an interpreter runs a file of this name, or a program
// reads it, even where a comment of it holds a zero byte.
func isSource(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".json", ".toml", ".yaml", ".yml", ".env":
		return true
	}
	return isCode(p)
}

// isCode reports whether an interpreter or a compiler reads a file of this name.
func isCode(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".py", ".pyi", ".go", ".rb", ".rs", ".sh", ".bash", ".ksh", ".ipynb":
		return true
	}
	return false
}

// isProse reports whether a file is documentation, whose samples are not the server.
func isProse(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".html", ".htm", ".map":
		return true
	}
	return false
}

// add adds a finding at an offset of a file, and returns it until the next one is added. It is nil where
// the bounds or the reader's own comments keep it out.
func (a *auditor) add(rule string, sev finding.Severity, p, src string, offset int, message, identity string) *finding.Finding {
	of := kind{rule: rule, path: p, severity: sev}
	if a.given[of] >= maxPerFile || a.total[sev] >= maxFindings {
		return nil
	}
	line, col, lineText := position(src, offset)
	if a.own && silences(lineText, rule) {
		a.report.Suppressed++
		return nil
	}
	if asks := silencer.FindString(lineText); asks != "" && rule != ScannerSilenced {
		message += "; its line asks scanners to pass over it (" + asks + ")"
	}
	a.given[of]++
	a.total[sev]++
	// Two alike in a file are told apart by their order, and by nothing that a
	// line above them changes.
	fingerprint := finding.Fingerprint(rule, p, identity)
	for n := 1; a.printed[fingerprint]; n++ {
		fingerprint = finding.Fingerprint(rule, p, identity, fmt.Sprint(n))
	}
	a.printed[fingerprint] = true
	loc := &finding.Location{Path: p, Line: line, Column: col}
	a.report.Findings = append(a.report.Findings, finding.Finding{
		Rule: rule, Severity: sev, Title: title(rule), Message: p + ": " + message, Phase: finding.PhaseStatic, Location: loc, Confidence: finding.Probable,
		Evidence:    []finding.Evidence{{Source: "source", Text: message, Location: loc}},
		Fingerprint: fingerprint,
	})
	return &a.report.Findings[len(a.report.Findings)-1]
}

func title(rule string) string {
	for _, r := range Rules() {
		if r.ID == rule {
			return r.Title
		}
	}
	return rule
}

// position turns a byte offset into a line, a column (both from 1, in characters) and the line's text.
func position(src string, offset int) (line, col int, lineText string) {
	offset = min(max(offset, 0), len(src))
	start := strings.LastIndexByte(src[:offset], '\n') + 1
	end := len(src)
	if i := strings.IndexByte(src[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	return strings.Count(src[:offset], "\n") + 1, utf8.RuneCountInString(src[start:offset]) + 1, src[start:end]
}
