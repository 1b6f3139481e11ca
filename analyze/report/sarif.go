package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// SARIFSchema is the official schema's address, as GitHub names it.
// SARIFSchema is the address of the schema of SARIF 2.1.0.
const SARIFSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// informationURI is where a reader learns more.
const informationURI = "https://github.com/coalmine-dev/coalmine"

// githubFingerprint is what GitHub tells alerts of one rule apart by. Left out, it
// would be computed from the line, which all findings of one server share.
const githubFingerprint = "primaryLocationLineHash"

// maxSARIF bounds the results, to GitHub's own bound; the least severe are dropped first.
const maxSARIF = 5_000

// SARIFOptions say where a run's findings are located: every result needs a
// file that a reviewer can open.
type SARIFOptions struct {
	// Default is the place of findings of the run: the config's entry, or the
	// server's own file. Its path is relative to the repository.
	Default finding.Location
	// AuditRoot is put before the audit's paths, relative to the repository.
	AuditRoot string
}

// maxPacked bounds the log as GitHub takes it, compressed: ten megabytes, and a little air.
const maxPacked = 9 << 20

// SARIF writes a log with one run, and with the rules that its results name. Where GitHub's bounds do not hold all results,
// the least severe are left out, and the log says how many.
func SARIF(w io.Writer, res *analyze.Result, o SARIFOptions) error {
	for most := maxSARIF; ; most /= 2 {
		doc, err := document(res, o, most)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := encode(&b, doc); err != nil {
			return err
		}
		if most > 1 && b.Len() > maxPacked && packed(b.Bytes()) > maxPacked {
			continue
		}
		_, err = w.Write(b.Bytes())
		return err
	}
}

// packed is the length of data as it is uploaded.
func packed(data []byte) int {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a buffer takes all
	_ = z.Close()
	return b.Len()
}

// document is a log of at most so many results.
func document(res *analyze.Result, o SARIFOptions, most int) (map[string]any, error) {
	b := &sarifBuilder{o: o, most: most, index: map[string]int{}, cwe: map[string]bool{}}
	log := sarif.NewReport()
	log.Runs = []*sarif.Run{b.run(res)}
	raw, err := json.Marshal(log)
	if err != nil {
		return nil, fmt.Errorf("encode SARIF: %w", err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("decode SARIF: %w", err)
	}
	withoutFillers(doc)
	doc["$schema"] = SARIFSchema
	return doc, nil
}

// withoutFillers drops what the library writes for "absent": members that are
// -1, and empty lists. A run's empty results stay: they say that nothing was found.
func withoutFillers(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, m := range v {
			list, isList := m.([]any)
			if n, ok := m.(float64); (ok && n == -1) || (isList && len(list) == 0 && k != "results") {
				delete(v, k)
				continue
			}
			withoutFillers(m)
		}
	case []any:
		for _, m := range v {
			withoutFillers(m)
		}
	}
}

// At is a place at the beginning of a file.
func At(path string) finding.Location { return finding.Location{Path: path, Line: 1} }

type sarifBuilder struct {
	o     SARIFOptions
	most  int // results
	index map[string]int
	cwe   map[string]bool
}

func ptr[T any](v T) *T { return &v }

// describe writes the rules that findings name, and the first one where they name none, since GitHub takes no log
// without a rule: the documentation of all is forty times as long as a clean run's log.
func (b *sarifBuilder) describe(driver *sarif.ToolComponent, res *analyze.Result, all []finding.Finding) {
	named := map[string]bool{}
	for i := range all {
		named[all[i].Rule] = true
	}
	if len(named) == 0 {
		named[Rules()[0].ID] = true
	}
	add := func(id string, describe func() *sarif.ReportingDescriptor) {
		if named[id] {
			b.index[id] = len(driver.Rules)
			driver.Rules = append(driver.Rules, describe())
		}
	}
	for _, r := range Rules() {
		add(r.ID, func() *sarif.ReportingDescriptor { return b.rule(&r) })
	}
	for i := range res.Rules {
		add(res.Rules[i].ID, func() *sarif.ReportingDescriptor { return b.ownRule(&res.Rules[i]) })
	}
}

func (b *sarifBuilder) run(res *analyze.Result) *sarif.Run {
	run := sarif.NewRunWithInformationURI("coalmine", informationURI)
	driver := run.Tool.Driver
	driver.Version = ptr(numeric(res.Tool.Version))
	all := res.All()
	rules.Sort(all)
	dropped := max(len(all)-b.most, 0)
	all = all[:len(all)-dropped]
	b.describe(driver, res, all)
	run.Results = []*sarif.Result{}
	for i := range all {
		run.Results = append(run.Results, b.result(&all[i]))
	}
	run.AutomationDetails = sarif.NewRunAutomationDetails().WithID("coalmine/" + slug(res.Run.Target) + "/")
	if res.Run.Package != nil {
		run.Properties = packageProperties(res.Run.Package)
	}
	run.ColumnKind = ptr("unicodeCodePoints")
	inv := sarif.NewInvocation().WithExecutionSuccessful(len(res.Inconclusive) == 0)
	for _, reason := range res.Inconclusive {
		inv.ToolExecutionNotifications = append(inv.ToolExecutionNotifications,
			sarif.NewNotification().WithLevel("warning").WithMessage(message("not checked: "+text.Printable(reason, 300))))
	}
	gaps := gapsAccepted(res)
	for i := range gaps {
		inv.ToolExecutionNotifications = append(inv.ToolExecutionNotifications,
			sarif.NewNotification().WithLevel("note").WithMessage(message("accepted, "+text.Printable(acceptedGapLine(&gaps[i]), 600))))
	}
	if dropped > 0 {
		inv.ToolExecutionNotifications = append(inv.ToolExecutionNotifications,
			sarif.NewNotification().WithLevel("warning").WithMessage(message(fmt.Sprintf("left out the %d least severe results", dropped))))
	}
	run.Invocations = []*sarif.Invocation{inv}
	return run
}

// numeric makes a version begin with a number, by which viewers compare.
func numeric(version string) string {
	v := strings.TrimPrefix(version, "v")
	if v != "" && v[0] >= '0' && v[0] <= '9' && strings.Contains(v, ".") {
		return v
	}
	if v == "" {
		v = "devel"
	}
	return "0.0.0-" + v
}

// Rules are all rules that a result can name: those of runs and logs, then the audit's.
func Rules() []finding.Rule {
	var out []finding.Rule
	for _, r := range rules.All() {
		out = append(out, r.Rule)
	}
	return append(out, audit.Rules()...)
}

// securitySeverity is GitHub's scale: over 9 critical, from 7 high, from 4 medium.
var securitySeverity = map[finding.Severity]string{finding.Critical: "9.5", finding.High: "8.0", finding.Medium: "5.5", finding.Low: "3.0", finding.Info: "0.0"}

func level(s finding.Severity) string {
	switch s {
	case finding.Critical, finding.High:
		return "error"
	case finding.Medium:
		return "warning"
	default:
		return "note"
	}
}

// docs are all rules by their IDs.
var docs = sync.OnceValue(func() map[string]finding.Rule {
	out := map[string]finding.Rule{}
	for _, r := range Rules() {
		out[r.ID] = r
	}
	return out
})

// AdviceOf is the advice for a rule, the zero Advice for one that is not in Rules.
func AdviceOf(id string) finding.Advice { return docs()[id].Advice }

// familyOf is the family of a rule that a result names.
func familyOf(res *analyze.Result, id string) finding.Family {
	if r, ok := docs()[id]; ok {
		return r.Family
	}
	if slices.ContainsFunc(res.Rules, func(d custom.Doc) bool { return d.ID == id }) {
		return finding.FamilyOwn
	}
	return finding.FamilyStatic
}

func (b *sarifBuilder) rule(r *finding.Rule) *sarif.ReportingDescriptor {
	tags := []string{"security", string(r.Family)}
	for _, c := range r.CWE {
		tags = append(tags, "external/cwe/"+strings.ToLower(c))
	}
	for _, c := range r.OWASP {
		tags = append(tags, "owasp-mcp/"+strings.ToLower(c))
	}
	props := sarif.NewPropertyBag().Add("security-severity", securitySeverity[r.Severity]).Add("precision", "high").Add("problem.severity", level(r.Severity)).WithTags(tags)
	help := r.Help + rules.AdviceMarkdown(r)
	d := sarif.NewReportingDescriptor().WithID(r.ID).WithName(r.Name).
		WithShortDescription(sarif.NewMultiformatMessageString().WithText(sentence(r.Title))).
		WithFullDescription(sarif.NewMultiformatMessageString().WithText(sentence(firstParagraph(r.Help)))).
		WithHelp(sarif.NewMultiformatMessageString().WithText(plain(help)).WithMarkdown(help)).
		WithHelpURI(informationURI + "/blob/main/analyze/rules/README.md#" + strings.ToLower(r.ID)).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level(r.Severity)))
	d.WithProperties(props)
	return d
}

// ownRule describes a rule of the user's own. Its words are a file's: none of them acts.
func (b *sarifBuilder) ownRule(doc *custom.Doc) *sarif.ReportingDescriptor {
	r := doc.Rule()
	r.Title, r.Help = inert(r.Title), inert(r.Help)
	d := b.rule(&r)
	d.HelpURI = nil
	if len(doc.References) > 0 {
		d.WithHelpURI(doc.References[0])
	}
	tags := []string{"security", string(r.Family)}
	for _, t := range doc.Tags {
		tags = append(tags, string(r.Family)+"/"+t)
	}
	d.Properties.WithTags(tags)
	return d
}

func (b *sarifBuilder) result(f *finding.Finding) *sarif.Result {
	loc := b.location(f)
	r := sarif.NewRuleResult(f.Rule).WithRuleIndex(b.index[f.Rule]).WithLevel(level(f.Severity)).
		WithMessage(message(sentence(text.Printable(f.Message, 900)))).
		WithLocations([]*sarif.Location{loc}).
		WithPartialFingerprints(partialFingerprints(f))
	props := sarif.NewPropertyBag().Add("severity", string(f.Severity)).Add("security-severity", securitySeverity[f.Severity]).Add("confidence", string(f.Confidence))
	if f.Tool != "" {
		props.Add("tool", text.Printable(f.Tool, 200))
	}
	if f.Rung != "" {
		props.Add("rung", string(f.Rung))
	}
	if f.EvidenceLevel != "" {
		props.Add("evidence_level", f.EvidenceLevel)
	}
	if f.Reproduce != "" {
		props.Add("reproduce", text.Printable(f.Reproduce, 900))
	}
	r.WithProperties(props)
	if f.Run != "" {
		props.Add("joined", string(f.Run))
	}
	for i := range f.Sources {
		at := f.Sources[i]
		at.Path = path.Join(b.o.AuditRoot, at.Path)
		r.AddRelatedLocation(b.place(&finding.Finding{}, &at).WithMessage(message("A likely source of the effect.")).WithID(i + 1))
	}
	if f.Generated != nil {
		r.AddRelatedLocation(b.place(f, f.Generated).WithMessage(message("The place in the bundle that was read.")).WithID(len(f.Sources) + 1))
	}
	if len(f.Evidence) > 0 {
		r.WithCodeFlows([]*sarif.CodeFlow{b.flow(f)})
	}
	return r
}

// partialFingerprints are a finding's identity under versioned keys, as SARIF 2.1.0
// has them (sections 3.27.17 and 3.5.4.2). A key's version is that of the way in
// which the rule makes fingerprints. Where that way is new, the one before stands
// under the version before: two runs are compared by a version that both have.
func partialFingerprints(f *finding.Finding) map[string]string {
	rule, _ := rules.Of(f.Rule)
	version := max(rule.FingerprintVersion, 1)
	key := func(version int) string { return fmt.Sprintf("coalmine/v%d", version) }
	out := map[string]string{key(version): f.Fingerprint, githubFingerprint: f.Fingerprint + ":1"}
	if version > 1 && len(f.PreviousFingerprints) > 0 {
		out[key(version-1)] = f.PreviousFingerprints[0]
	}
	return out
}

// flow is the evidence chain.
func (b *sarifBuilder) flow(f *finding.Finding) *sarif.CodeFlow {
	tf := sarif.NewThreadFlow()
	for i, e := range f.Evidence {
		loc := b.place(f, e.Location).WithMessage(message(sentence(text.Printable(e.Text, 400))))
		tf.AddLocation(sarif.NewThreadFlowLocation().WithLocation(loc).WithExecutionOrder(i + 1).WithImportance("essential"))
	}
	flow := sarif.NewCodeFlow()
	flow.AddThreadFlow(tf)
	return flow
}

func (b *sarifBuilder) location(f *finding.Finding) *sarif.Location {
	l := b.place(f, f.Location)
	if f.Tool != "" {
		l.WithLogicalLocations([]*sarif.LogicalLocation{sarif.NewLogicalLocation().WithName(text.Printable(f.Tool, 200)).WithKind("function")})
	}
	return l
}

// place is the file to open: the finding's own in the audited tree, else the run's.
func (b *sarifBuilder) place(f *finding.Finding, at *finding.Location) *sarif.Location {
	where := b.o.Default
	if at != nil {
		where = *at
		if f.Phase == finding.PhaseStatic {
			where.Path = path.Join(b.o.AuditRoot, where.Path)
		}
	}
	line := max(where.Line, 1)
	region := sarif.NewRegion().WithStartLine(line)
	if where.Column > 0 {
		region.WithStartColumn(where.Column)
	}
	physical := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewArtifactLocation().WithURI(uri(where.Path))).WithRegion(region)
	return sarif.NewLocationWithPhysicalLocation(physical)
}

// uri writes a relative path as a URI reference. Of an absolute path, which would
// name the machine and not the repository, only the last element is left.
func uri(p string) string {
	p = strings.ToValidUTF8(strings.ReplaceAll(p, "\\", "/"), "\uFFFD")
	if path.IsAbs(p) {
		p = path.Base(p)
	}
	p = strings.TrimPrefix(path.Clean("/"+p), "/")
	if p == "" {
		p = "."
	}
	return (&url.URL{Path: p}).EscapedPath()
}

// message is a text of which no part acts: a server has a say in most.
func message(s string) *sarif.Message { return sarif.NewTextMessage(inert(s)) }

// inert keeps a viewer from taking a part of a text for a link of SARIF's own
// (section 3.11.6), or for Markdown's links and images, HTML, or somebody's name.
// Where that could be, a space parts it.
func inert(s string) string {
	s = tag.ReplaceAllString(link.ReplaceAllString(s, "$1 $2"), "< $1")
	return mention.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasSuffix(m, "/") {
			return m // a package's scope
		}
		return strings.Replace(m, "@", "@ ", 1)
	})
}

var (
	link    = lazyregexp.New(`([!\]])([(\[:])`)
	tag     = lazyregexp.New(`<([A-Za-z/!?])`)
	mention = lazyregexp.New(`(^|[^\w/@])@[A-Za-z0-9-]+/?`)
)

// sentence ends a text with a full stop, as SARIF's validators ask.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || slices.Contains([]string{".", "!", "?"}, s[len(s)-1:]) {
		return s
	}
	return s + "."
}

func firstParagraph(md string) string {
	p, _, _ := strings.Cut(md, "\n\n")
	return plain(p)
}

// plain takes the marks out of Markdown of ours.
func plain(md string) string { return strings.NewReplacer("**", "", "`", "", "*", "").Replace(md) }

// slug makes a target's name fit for a path and for an identifier.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := strings.Trim(b.String(), "-.")
	if len(out) > 80 {
		out = out[:80]
	}
	if out == "" {
		return "server"
	}
	return out
}

// Slug is the name of a target's directory.
func Slug(target string) string { return slug(target) }
