package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/analyze/policy/yamldoc"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxItems bounds the entries of all lists.
const maxItems = 10_000

// Parse reads a policy; file is its name in the errors, which are *Error,
// joined, at most twenty. A policy with an error is not returned.
func Parse(file string, data []byte) (*Policy, error) {
	r := &reader{Reader: yamldoc.Reader{File: file}}
	p := &Policy{File: file, Source: data, Tools: map[string]Entry{}}
	if root := r.Root(data); root != nil {
		r.policy(p, root)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

type reader struct {
	yamldoc.Reader
	items int
}

func (r *reader) policy(p *Policy, n *yaml.Node) {
	r.Members(n, "the policy", []string{"schema", "server", "tools", "suppress", "accept_opaque", "accept_unrun", "accept_gaps", "environment", "services", "defaults", "rules"}, func(key, v *yaml.Node) {
		switch key.Value {
		case "schema":
			if s := r.Text(v, "schema"); s != Schema {
				r.Fault(v, "schema %q is not %s", yamldoc.Bounded(s), Schema)
			}
		case "server":
			p.Server = r.entry(v, "server")
		case "tools":
			r.Members(v, "tools", nil, func(key, v *yaml.Node) { p.Tools[key.Value] = r.entry(v, "tool "+yamldoc.Bounded(key.Value)) })
		case "suppress":
			p.Suppress = r.suppressions(v)
		case "environment":
			p.Environment = r.environment(v)
		case "accept_unrun":
			p.AcceptUnrun = r.acceptances(v)
		case "accept_gaps":
			p.AcceptGaps = r.gapAcceptances(v)
		case "accept_opaque":
			p.AcceptOpaque = r.list(v, "accept_opaque", checkHost)
		case "services":
			p.Services = r.list(v, "services", checkService)
		case "defaults":
			p.Defaults = r.defaults(v)
		case "rules":
			r.rules(p, v)
		}
	})
}

// rules reads which files hold rules of the user's own. The rules that stand in the
// policy itself are kept as they are: package custom reads them.
func (r *reader) rules(p *Policy, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "rules must be a list of files and rules")
		return
	}
	p.Rules = []RuleEntry{}
	for _, v := range n.Content {
		if r.items++; r.items > maxItems {
			r.Fault(v, "there are more than %d entries", maxItems)
			return
		}
		if v.Kind == yaml.MappingNode {
			if r.Plain(v, "rules") {
				p.Rules = append(p.Rules, RuleEntry{At: yamldoc.At(v), Node: v})
			}
			continue
		}
		name := r.Text(v, "rules")
		if name == "" {
			continue
		}
		if err := checkRuleFile(name); err != nil {
			r.Fault(v, "rules: %q %v", yamldoc.Bounded(name), err)
			continue
		}
		p.Rules = append(p.Rules, RuleEntry{File: name, At: yamldoc.At(v)})
	}
}

// checkService says what is wrong with a service's name. Which there are, probe knows.
func checkService(name string) error {
	if name == "" || len(name) > 40 || strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) {
		return errors.New("is no service's name")
	}
	return nil
}

// maxVariables bounds the environment.
const maxVariables = 200

// environment reads names and values; a value may be empty, but must be written as text.
func (r *reader) environment(n *yaml.Node) map[string]string {
	out := map[string]string{}
	r.Members(n, "environment", nil, func(key, v *yaml.Node) {
		err := CheckVariable(key.Value)
		switch {
		case err != nil:
			r.Fault(key, "environment: %v", err)
		case len(out) >= maxVariables:
			r.Fault(key, "environment has more than %d variables", maxVariables)
		case v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" && v.Value == "":
			out[key.Value] = ""
		default:
			s := r.Text(v, "environment, "+yamldoc.Bounded(key.Value))
			if strings.ContainsRune(s, 0) {
				r.Fault(v, "environment, %s holds a NUL", yamldoc.Bounded(key.Value))
				return
			}
			out[key.Value] = s
		}
	})
	return out
}

// defaults reads the flags of coalmine probe, each with one value or a list.
func (r *reader) defaults(n *yaml.Node) []Default {
	var out []Default
	r.Members(n, "defaults", DefaultFlags, func(key, v *yaml.Node) {
		d := Default{Flag: key.Value, At: yamldoc.At(key)}
		values := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			values = v.Content
		}
		for _, one := range values {
			switch {
			case one.Kind != yaml.ScalarNode || one.ShortTag() == "!!null":
				r.Fault(one, "defaults, %s must be a value or a list of values", key.Value)
			case len(d.Values) == maxDefaults:
				r.Fault(one, "defaults, %s has more than %d values", key.Value, maxDefaults)
				return
			default:
				d.Values = append(d.Values, one.Value)
			}
		}
		out = append(out, d)
	})
	return out
}

// maxDefaults bounds the values of one flag.
const maxDefaults = 50

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

// CheckVariable says why a name cannot be that of a variable with a value.
func CheckVariable(name string) error {
	switch {
	case !variableName.MatchString(name):
		return fmt.Errorf("%q is not a variable's name", yamldoc.Bounded(name))
	case name == "HOME" || name == "PWD" || name == "USER" || name == "LOGNAME":
		return fmt.Errorf("%s is the sandbox's own", name)
	}
	return nil
}

func (r *reader) entry(n *yaml.Node, what string) Entry {
	e := Entry{At: yamldoc.At(n)}
	r.Members(n, what, []string{"allow", "deny", "arguments"}, func(key, v *yaml.Node) {
		switch key.Value {
		case "allow":
			e.Allow = r.lists(v, what+", allow")
		case "deny":
			e.Deny = r.lists(v, what+", deny")
		case "arguments":
			e.Arguments = r.arguments(v, what+", arguments")
		}
	})
	return e
}

func (r *reader) lists(n *yaml.Node, what string) Lists {
	var l Lists
	r.Members(n, what, []string{"files", "hosts", "commands", "env"}, func(key, v *yaml.Node) {
		switch key.Value {
		case "files":
			l.Files = r.list(v, what+", files", checkFile)
		case "hosts":
			l.Hosts = r.list(v, what+", hosts", checkHost)
		case "commands":
			l.Commands = r.list(v, what+", commands", checkCommand)
		case "env":
			l.Env = r.list(v, what+", env", checkEnv)
		}
	})
	return l
}

// list reads a sequence of texts, each of which check must accept.
func (r *reader) list(n *yaml.Node, what string, check func(string) error) List {
	out := List{}
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "%s must be a list", what)
		return out
	}
	for _, v := range n.Content {
		if r.items++; r.items > maxItems {
			r.Fault(v, "there are more than %d entries", maxItems)
			return out
		}
		s := r.Text(v, what)
		if s == "" {
			continue
		}
		if err := check(s); err != nil {
			r.Fault(v, "%s: %q %v", what, yamldoc.Bounded(s), err)
			continue
		}
		out = append(out, Item{Text: s, At: yamldoc.At(v)})
	}
	return out
}

func (r *reader) arguments(n *yaml.Node, what string) map[string]Argument {
	out := map[string]Argument{}
	r.Members(n, what, nil, func(key, v *yaml.Node) {
		s := r.Text(v, what)
		if s == "" {
			return
		}
		re, err := regexp.Compile(`\A(?:` + s + `)\z`)
		// Alone it must be an expression too: "a)|(?:b" would only be one in the brackets.
		if _, alone := regexp.Compile(s); alone != nil {
			err = alone
		}
		if err != nil {
			r.Fault(v, "%s, %s: %v", what, yamldoc.Bounded(key.Value), err)
			return
		}
		out[key.Value] = Argument{s, yamldoc.At(v), re}
	})
	return out
}

var fingerprint = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (r *reader) suppressions(n *yaml.Node) []Suppression {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "suppress must be a list")
		return nil
	}
	var out []Suppression
	for _, v := range n.Content {
		s := Suppression{At: yamldoc.At(v)}
		r.Members(v, "suppress", []string{"fingerprint", "reason", "owner", "expires"}, func(key, v *yaml.Node) {
			text := r.Text(v, "suppress, "+key.Value)
			switch key.Value {
			case "fingerprint":
				s.Fingerprint = strings.ToLower(text)
				if text != "" && !fingerprint.MatchString(s.Fingerprint) {
					r.Fault(v, "fingerprint %q is not 32 hexadecimal digits, as report.json has them", yamldoc.Bounded(text))
				}
			case "reason":
				s.Reason = text
			case "owner":
				s.Owner = text
			case "expires":
				s.Expires = r.expires(v, text)
			}
		})
		if v.Kind != yaml.SequenceNode && (s.Fingerprint == "" || s.Reason == "" || s.Owner == "" || s.Expires.IsZero()) {
			r.Fault(v, "a suppression needs fingerprint, reason, owner and expires")
			continue
		}
		out = append(out, s)
	}
	return out
}

// expires reads the last day on which something holds, and returns the moment after it.
func (r *reader) expires(v *yaml.Node, text string) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil && text != "" {
		r.Fault(v, "expires %q is not a day, such as 2027-01-31", yamldoc.Bounded(text))
	}
	return day.AddDate(0, 0, 1)
}

func (r *reader) acceptances(n *yaml.Node) []Acceptance {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "accept_unrun must be a list")
		return nil
	}
	var out []Acceptance
	for _, v := range n.Content {
		a := Acceptance{At: yamldoc.At(v)}
		r.Members(v, "accept_unrun", []string{"function", "reason", "expires"}, func(key, v *yaml.Node) {
			text := r.Text(v, "accept_unrun, "+key.Value)
			switch key.Value {
			case "function":
				a.Function = text
				if text != "" && !strings.Contains(text, ":") {
					r.Fault(v, "function %q is not a file and function, such as server.py:steal", yamldoc.Bounded(text))
				}
			case "reason":
				a.Reason = text
			case "expires":
				a.Expires = r.expires(v, text)
			}
		})
		if a.Function == "" || a.Reason == "" || a.Expires.IsZero() {
			r.Fault(v, "an acceptance needs function, reason and expires")
			continue
		}
		out = append(out, a)
	}
	return out
}

func (r *reader) gapAcceptances(n *yaml.Node) []GapAcceptance {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "accept_gaps must be a list")
		return nil
	}
	var out []GapAcceptance
	for _, v := range n.Content {
		if r.items++; r.items > maxItems {
			r.Fault(v, "there are more than %d entries", maxItems)
			return out
		}
		a := GapAcceptance{At: yamldoc.At(v)}
		r.Members(v, "accept_gaps", []string{"code", "tool", "reason", "expires"}, func(key, v *yaml.Node) {
			text := r.Text(v, "accept_gaps, "+key.Value)
			switch key.Value {
			case "code":
				a.Code = session.Code(text)
			case "tool":
				a.Tool = text
			case "reason":
				a.Reason = text
			case "expires":
				a.Expires = r.expires(v, text)
			}
		})
		if a.Code == "" || a.Reason == "" || a.Expires.IsZero() {
			r.Fault(v, "an acceptance of a gap needs code, reason and expires, and a tool where the gap is about one")
			continue
		}
		if err := a.Code.Acceptable(a.Tool); err != nil {
			r.Fault(v, "accept_gaps: code %q %v", yamldoc.Bounded(string(a.Code)), err)
			continue
		}
		out = append(out, a)
	}
	return out
}
