package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// The bounds on a file.
const (
	maxFile   = 1 << 20
	maxErrors = 20
	maxItems  = 10_000
	maxItem   = 4 << 10
)

// Parse reads a policy; file is its name in the errors, which are *Error,
// joined, at most twenty. A policy with an error is not returned.
func Parse(file string, data []byte) (p *Policy, err error) {
	r := &reader{file: file}
	defer func() {
		// A fault of the syntax library must not end a run.
		if f := recover(); f != nil {
			p, err = nil, &Error{File: file, What: fmt.Sprintf("cannot be read: %v", f)}
		}
	}()
	p = &Policy{File: file, Source: data, Tools: map[string]Entry{}}
	if len(data) > maxFile {
		return nil, &Error{File: file, What: fmt.Sprintf("is larger than %d bytes", maxFile)}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, r.syntax(err)
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 && doc.Content[0].ShortTag() != "!!null" {
		r.policy(p, doc.Content[0])
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return p, nil
}

type reader struct {
	file  string
	errs  []error
	items int
}

func (r *reader) syntax(err error) error {
	var fault *yaml.LoadError
	if !errors.As(err, &fault) {
		return &Error{File: r.file, What: "is no YAML"}
	}
	return &Error{File: r.file, At: Position{fault.Mark.Line, max(1, fault.Mark.Column)}, What: fault.Message}
}

func (r *reader) fault(n *yaml.Node, format string, a ...any) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &Error{r.file, position(n), fmt.Sprintf(format, a...)})
	}
}

func position(n *yaml.Node) Position { return Position{n.Line, n.Column} }

// members calls each with the members of a mapping; known, if not nil, are the
// only names that there may be.
func (r *reader) members(n *yaml.Node, what string, known []string, each func(key, value *yaml.Node)) {
	if n.ShortTag() == "!!null" && n.Kind == yaml.ScalarNode {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, "%s must be a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			r.fault(key, "%s: aliases and merges are not read here", what)
		case seen[key.Value]:
			r.fault(key, "%s: %q stands here twice", what, bounded(key.Value))
		case known != nil && !contains(known, key.Value):
			r.fault(key, "%s: %q is none of %s", what, bounded(key.Value), strings.Join(known, ", "))
		default:
			seen[key.Value] = true
			each(key, n.Content[i+1])
		}
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// bounded is a word of the file in a message.
func bounded(s string) string { return s[:min(len(s), 80)] }

func (r *reader) policy(p *Policy, n *yaml.Node) {
	r.members(n, "the policy", []string{"schema", "server", "tools", "suppress", "accept_opaque", "environment"}, func(key, v *yaml.Node) {
		switch key.Value {
		case "schema":
			if s := r.text(v, "schema"); s != Schema {
				r.fault(v, "schema %q is not %s", bounded(s), Schema)
			}
		case "server":
			p.Server = r.entry(v, "server")
		case "tools":
			r.members(v, "tools", nil, func(key, v *yaml.Node) { p.Tools[key.Value] = r.entry(v, "tool "+bounded(key.Value)) })
		case "suppress":
			p.Suppress = r.suppressions(v)
		case "environment":
			p.Environment = r.environment(v)
		case "accept_opaque":
			p.AcceptOpaque = r.list(v, "accept_opaque", checkHost)
		}
	})
}

// maxVariables bounds the environment.
const maxVariables = 200

// environment reads names and values; a value may be empty, but must be written as text.
func (r *reader) environment(n *yaml.Node) map[string]string {
	out := map[string]string{}
	r.members(n, "environment", nil, func(key, v *yaml.Node) {
		err := CheckVariable(key.Value)
		switch {
		case err != nil:
			r.fault(key, "environment: %v", err)
		case len(out) >= maxVariables:
			r.fault(key, "environment has more than %d variables", maxVariables)
		case v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" && v.Value == "":
			out[key.Value] = ""
		default:
			s := r.text(v, "environment, "+bounded(key.Value))
			if strings.ContainsRune(s, 0) {
				r.fault(v, "environment, %s holds a NUL", bounded(key.Value))
				return
			}
			out[key.Value] = s
		}
	})
	return out
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

// CheckVariable says why a name is none that a value can be given to.
func CheckVariable(name string) error {
	switch {
	case !variableName.MatchString(name):
		return fmt.Errorf("%q is no variable's name", bounded(name))
	case name == "HOME" || name == "PWD" || name == "USER" || name == "LOGNAME":
		return fmt.Errorf("%s is the sandbox's own", name)
	}
	return nil
}

func (r *reader) entry(n *yaml.Node, what string) Entry {
	e := Entry{At: position(n)}
	r.members(n, what, []string{"allow", "deny", "arguments"}, func(key, v *yaml.Node) {
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
	r.members(n, what, []string{"files", "hosts", "commands", "env"}, func(key, v *yaml.Node) {
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
		r.fault(n, "%s must be a list", what)
		return out
	}
	for _, v := range n.Content {
		if r.items++; r.items > maxItems {
			r.fault(v, "there are more than %d entries", maxItems)
			return out
		}
		s := r.text(v, what)
		if s == "" {
			continue
		}
		if err := check(s); err != nil {
			r.fault(v, "%s: %q %v", what, bounded(s), err)
			continue
		}
		out = append(out, Item{Text: s, At: position(v)})
	}
	return out
}

// text reads a scalar; what is none is a fault, and "".
func (r *reader) text(n *yaml.Node, what string) string {
	switch {
	case n.Kind == yaml.AliasNode:
		r.fault(n, "%s: aliases and merges are not read here", what)
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		r.fault(n, "%s must be a text", what)
	case n.Value == "":
		r.fault(n, "%s is empty", what)
	case len(n.Value) > maxItem:
		r.fault(n, "%s is longer than %d bytes", what, maxItem)
	default:
		return n.Value
	}
	return ""
}

func (r *reader) arguments(n *yaml.Node, what string) map[string]Argument {
	out := map[string]Argument{}
	r.members(n, what, nil, func(key, v *yaml.Node) {
		s := r.text(v, what)
		if s == "" {
			return
		}
		re, err := regexp.Compile(`\A(?:` + s + `)\z`)
		// Alone it must be an expression too: "a)|(?:b" would only be one in the brackets.
		if _, alone := regexp.Compile(s); alone != nil {
			err = alone
		}
		if err != nil {
			r.fault(v, "%s, %s: %v", what, bounded(key.Value), err)
			return
		}
		out[key.Value] = Argument{s, position(v), re}
	})
	return out
}

var fingerprint = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (r *reader) suppressions(n *yaml.Node) []Suppression {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "suppress must be a list")
		return nil
	}
	var out []Suppression
	for _, v := range n.Content {
		s := Suppression{At: position(v)}
		r.members(v, "suppress", []string{"fingerprint", "reason", "owner", "expires"}, func(key, v *yaml.Node) {
			text := r.text(v, "suppress, "+key.Value)
			switch key.Value {
			case "fingerprint":
				s.Fingerprint = strings.ToLower(text)
				if text != "" && !fingerprint.MatchString(s.Fingerprint) {
					r.fault(v, "fingerprint %q is no 32 hexadecimal digits, as report.json has them", bounded(text))
				}
			case "reason":
				s.Reason = text
			case "owner":
				s.Owner = text
			case "expires":
				day, err := time.Parse(time.DateOnly, text)
				if err != nil && text != "" {
					r.fault(v, "expires %q is no day, such as 2027-01-31", bounded(text))
				}
				s.Expires = day.AddDate(0, 0, 1)
			}
		})
		if v.Kind != yaml.SequenceNode && (s.Fingerprint == "" || s.Reason == "" || s.Owner == "" || s.Expires.IsZero()) {
			r.fault(v, "a suppression needs fingerprint, reason, owner and expires")
			continue
		}
		out = append(out, s)
	}
	return out
}
