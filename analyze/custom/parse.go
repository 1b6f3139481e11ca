package custom

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/policy/yamldoc"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// FileSchema is the version that a file of rules may name in its member "schema".
const FileSchema = "coalmine/rules/v1"

// The bounds on rules.
const (
	maxRules      = 200
	maxExamples   = 50 // of each kind, of one rule
	maxExpression = 4 << 10
	maxTemplate   = 500
	maxName       = 100
	maxList       = 10 // references and tags
)

// File is a file of the user's, as it was read.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Compile reads the rules that stand in a policy, which may be nil, and those of files.
// Its errors are *policy.Error, joined. A set with an error is not returned; a set
// without a rule is nil.
func Compile(p *policy.Policy, files []File) (*Set, error) {
	b := &builder{ids: map[string]*Rule{}, set: &Set{}}
	if p != nil {
		r := &reader{Reader: yamldoc.Reader{File: p.File}, builder: b, lines: strings.Split(string(p.Source), "\n")}
		for _, e := range p.Rules {
			if e.Node != nil {
				r.rule(e.Node)
			}
		}
		b.errs = append(b.errs, r.Err())
	}
	for _, f := range files {
		r := &reader{Reader: yamldoc.Reader{File: f.Name}, builder: b, lines: strings.Split(f.Text, "\n")}
		if root := r.Root([]byte(f.Text)); root != nil && r.Plain(root, "the file of rules") {
			r.file(root)
		}
		b.errs = append(b.errs, r.Err())
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	if len(b.set.Rules) == 0 {
		return nil, nil
	}
	return b.set, nil
}

// builder collects the rules of all files.
type builder struct {
	set  *Set
	ids  map[string]*Rule
	errs []error
}

// reader reads the rules of one file.
type reader struct {
	yamldoc.Reader
	*builder
	lines []string
}

func (r *reader) file(n *yaml.Node) {
	r.Members(n, "the file of rules", []string{"schema", "rules"}, func(key, v *yaml.Node) {
		switch {
		case key.Value == "schema":
			if s := r.Text(v, "schema"); s != "" && s != FileSchema {
				r.Fault(v, "schema %q is not %s", yamldoc.Bounded(s), FileSchema)
			}
		case v.Kind != yaml.SequenceNode:
			r.Fault(v, "rules must be a list")
		default:
			for _, n := range v.Content {
				r.rule(n)
			}
		}
	})
}

// ruleID is an organisation's prefix and a name. No rule of coalmine's own has both in
// capital letters with a hyphen between them.
var ruleID = regexp.MustCompile(`^[A-Z][A-Z0-9]{1,15}(-[A-Z0-9]{1,16}){1,3}$`)

var members = []string{"id", "name", "severity", "over", "when", "text", "help", "references", "tags", "examples"}

// rule reads one rule. Its expressions are read last: they need to know what the rule is over.
func (r *reader) rule(n *yaml.Node) {
	rule, before := &Rule{File: r.File, At: yamldoc.At(n)}, r.Faults()
	at := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		r.Fault(n, "a rule must be a mapping of %s", strings.Join(members, ", "))
		return
	}
	r.Members(n, "the rule", members, func(key, v *yaml.Node) {
		at[key.Value] = v
		switch key.Value {
		case "id":
			r.id(rule, v)
		case "name":
			rule.Name = r.line(v, "name", maxName)
		case "severity":
			s, err := finding.ParseSeverity(r.Text(v, "severity"))
			if err != nil || s == finding.Info {
				r.Fault(v, "severity must be critical, high, medium or low")
			}
			rule.Severity = s
		case "over":
			rule.Over = Collection(r.Text(v, "over"))
			if typeOf(rule.Over) == nil {
				r.Fault(v, "over must be effect, claim, call or finding")
			}
		case "help":
			rule.Help = r.help(v)
		case "references":
			rule.References = r.list(v, "references", checkReference)
		case "tags":
			rule.Tags = r.list(v, "tags", checkTag)
		}
	})
	for _, name := range []string{"id", "name", "severity", "over", "when", "text", "examples"} {
		if at[name] == nil {
			r.Fault(n, "the rule has no %s", name)
		}
	}
	if r.Faults() > before {
		return
	}
	rule.when = r.expression(rule.Over, at["when"])
	rule.text = r.template(rule.Over, at["text"])
	r.examples(rule, at["examples"])
	switch {
	case r.Faults() > before:
	case len(r.set.Rules) >= maxRules:
		r.Fault(n, "there are more than %d rules", maxRules)
	default:
		r.set.Rules = append(r.set.Rules, rule)
	}
}

func (r *reader) id(rule *Rule, v *yaml.Node) {
	rule.ID = r.Text(v, "id")
	switch other := r.ids[rule.ID]; {
	case rule.ID == "":
	case !ruleID.MatchString(rule.ID):
		r.Fault(v, "id %q does not look like ORG-001: capital letters and digits, a prefix of your own, and a hyphen", yamldoc.Bounded(rule.ID))
	case strings.HasPrefix(rule.ID, "CM-") || strings.HasPrefix(rule.ID, "COALMINE-"):
		r.Fault(v, "id %q: the prefix is coalmine's own", rule.ID)
	case other != nil:
		r.Fault(v, "id %q is that of the rule at %s:%d:%d too", rule.ID, other.File, other.At.Line, other.At.Column)
	default:
		r.ids[rule.ID] = rule
	}
}

// line reads a text of one line without hidden characters.
func (r *reader) line(v *yaml.Node, what string, most int) string {
	s := r.Text(v, what)
	switch {
	case len(s) > most:
		r.Fault(v, "%s is longer than %d bytes", what, most)
	case text.Printable(s, len(s)+1) != s:
		r.Fault(v, "%s holds a control or hidden character, or goes over a line", what)
	default:
		return s
	}
	return ""
}

func (r *reader) help(v *yaml.Node) string {
	s := strings.TrimSpace(r.Text(v, "help"))
	for line := range strings.Lines(s) {
		if line = strings.TrimSuffix(line, "\n"); text.Printable(line, len(line)+1) != line {
			r.Fault(v, "help holds a control or hidden character")
			return ""
		}
	}
	return s
}

func (r *reader) list(n *yaml.Node, what string, check func(string) error) []string {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "%s must be a list", what)
		return nil
	}
	if len(n.Content) > maxList {
		r.Fault(n, "%s has more than %d entries", what, maxList)
		return nil
	}
	var out []string
	for _, v := range n.Content {
		s := r.line(v, what, 500)
		if s == "" {
			continue
		}
		if err := check(s); err != nil {
			r.Fault(v, "%s: %q %v", what, yamldoc.Bounded(s), err)
			continue
		}
		out = append(out, s)
	}
	return out
}

func checkReference(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return errors.New("must be an address, such as https://example.com/rules/1")
	}
	return nil
}

var tagForm = regexp.MustCompile(`^[a-z0-9][a-z0-9./_-]{0,60}$`)

func checkTag(s string) error {
	if !tagForm.MatchString(s) {
		return errors.New("must be of a-z, 0-9, and . / _ - within")
	}
	return nil
}

// expression reads the condition of a rule.
func (r *reader) expression(c Collection, n *yaml.Node) cel.Program {
	s := r.Text(n, "when")
	if s == "" {
		return nil
	}
	p, faults := compile(c, s, cel.BoolType)
	for _, f := range faults {
		at, exact := r.within(n, f.line, f.column)
		what := f.what
		if !exact {
			what = fmt.Sprintf("at %d:%d of the expression: %s", f.line, f.column, what)
		}
		r.FaultAt(at, "when: %s", text.Printable(what, 400))
	}
	return p
}

// within is a place of a scalar's text in the file, as far as the text stands there as it
// is: exact is false where it is folded or escaped, and the place is the scalar's then.
func (r *reader) within(n *yaml.Node, line, column int) (at yamldoc.Position, exact bool) {
	words := strings.Split(n.Value, "\n")
	if line > len(words) {
		line = len(words) // the end of a text that lacks something
	}
	first := n.Line + line - 1
	if n.Style&(yaml.LiteralStyle) != 0 {
		first++
	}
	if first > len(r.lines) || n.Style&yaml.FoldedStyle != 0 {
		return yamldoc.At(n), false
	}
	source := r.lines[first-1]
	from := 0
	if line == 1 && n.Style&yaml.LiteralStyle == 0 {
		from = min(len(string([]rune(source)[:min(n.Column-1, utf8.RuneCountInString(source))])), len(source))
	}
	i := strings.Index(source[from:], words[line-1])
	if i < 0 || words[line-1] == "" || line > 1 && n.Style&yaml.LiteralStyle == 0 {
		return yamldoc.At(n), false
	}
	return yamldoc.Position{Line: first, Column: utf8.RuneCountInString(source[:from+i]) + column}, true
}

// placeholder is a member in a template: {effect.target}.
var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// memberPath is all that a placeholder may be: a text can show an entry's members as they
// are, and make nothing else of them.
var memberPath = regexp.MustCompile(`^[a-z]+(\.[A-Za-z]+){1,3}$`)

// template reads the text of a rule.
func (r *reader) template(c Collection, n *yaml.Node) []piece {
	s := r.line(n, "text", maxTemplate)
	var out []piece
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(s, -1) {
		out = append(out, piece{words: s[at:m[0]]})
		at = m[1]
		member := s[m[2]:m[3]]
		a, faults := (*cel.Ast)(nil), []fault{{what: "it is not a member such as " + string(c) + ".tool"}}
		if memberPath.MatchString(member) {
			a, faults = check(c, member)
		}
		if len(faults) == 0 && !shown(a.OutputType()) {
			faults = []fault{{what: fmt.Sprintf("it is %s, and a text shows texts, numbers, truths and lists of texts", a.OutputType())}}
		}
		var p cel.Program
		if len(faults) == 0 {
			p, faults = compile(c, member, a.OutputType())
		}
		if len(faults) > 0 {
			place, _ := r.within(n, 1, utf8.RuneCountInString(s[:m[2]])+1)
			r.FaultAt(place, "text: {%s}: %s", text.Printable(member, 80), text.Printable(faults[0].what, 300))
			continue
		}
		out = append(out, piece{member: p})
	}
	rest := s[at:]
	if strings.ContainsAny(placeholder.ReplaceAllString(s, ""), "{}") {
		r.Fault(n, "text: a brace stands alone; {%s.tool} shows a member", c)
	}
	return append(out, piece{words: rest})
}

func shown(t *cel.Type) bool {
	return t.IsExactType(cel.StringType) || t.IsExactType(cel.IntType) || t.IsExactType(cel.BoolType) || t.IsExactType(cel.ListType(cel.StringType))
}

// examples reads the entries that a rule must speak of, and must not. A rule needs both:
// one that never speaks looks like a server that does nothing.
func (r *reader) examples(rule *Rule, n *yaml.Node) {
	lists := map[string]*yaml.Node{}
	r.Members(n, "examples", []string{"match", "no_match"}, func(key, v *yaml.Node) { lists[key.Value] = v })
	for name, to := range map[string]*[]example{"match": &rule.match, "no_match": &rule.noMatch} {
		v := lists[name]
		switch {
		case v == nil || v.Kind == yaml.SequenceNode && len(v.Content) == 0:
			why := "nobody knows then that it ever speaks"
			if name == "no_match" {
				why = "nobody knows then that it is ever silent"
			}
			r.Fault(n, "the rule has no example %s: %s", name, why)
		case v.Kind != yaml.SequenceNode:
			r.Fault(v, "examples, %s must be a list", name)
		case len(v.Content) > maxExamples:
			r.Fault(v, "examples, %s has more than %d entries", name, maxExamples)
		default:
			for _, e := range v.Content {
				*to = append(*to, example{yamldoc.At(e), r.entry(rule.Over, e, "examples, "+name)})
			}
		}
	}
}
