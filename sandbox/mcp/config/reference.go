package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Context is what references of a configuration may be resolved by. Nothing of it is a
// secret.
type Context struct {
	// Workspace is the project's directory, Bundle that of the manifest or the plugin,
	// "" where it is not known.
	Workspace, Bundle string
	// IsSet reports whether the user's environment has a variable; nil for never. Values
	// are never asked for.
	IsSet func(name string) bool
}

// Reference is a part of an entry that the client replaces.
type Reference struct {
	// Where is "command", "args[0]", "env.NAME", "cwd" or "url".
	Where string `json:"where"`
	Position
	// Text is the reference as it is written.
	Text string `json:"text"`
	// Value takes its place, as far as that is known and no secret.
	Value string `json:"value,omitempty"`
	// Missing says why nothing takes its place here, "" where something does.
	Missing string `json:"missing,omitempty"`
}

// reference matches the forms ${NAME}, ${KIND:NAME}, ${NAME:-DEFAULT}, ${{ NAME }} and
// {env:NAME}.
var reference = regexp.MustCompile(`\$\{\{[^{}\n]{1,200}\}\}|\$\{[^{}\n]{1,200}\}|\{(?:env|file):[^{}\n]{1,200}\}|^\{[A-Za-z_][A-Za-z0-9_-]{0,63}\}$`)

// maxReferences bounds those of one entry.
const maxReferences = 200

// References are all parts of an entry that its client replaces, in the order of
// command, variables by name, working directory and address.
func (s Server) References(c Context) []Reference {
	var out []Reference
	add := func(where string, at Position, text string) {
		for _, m := range reference.FindAllString(text, maxReferences) {
			if len(out) >= maxReferences {
				return
			}
			r := Reference{Where: where, Position: at, Text: m}
			r.Value, r.Missing = s.resolve(m, c)
			out = append(out, r)
		}
	}
	for i, word := range s.Command {
		where, at := "command", s.At.Command
		if i > 0 {
			where = fmt.Sprintf("args[%d]", i-1)
			// A command that was made of a package has arguments that stand nowhere.
			if j := i - (len(s.Command) - len(s.At.Args)); j >= 0 {
				at = s.At.Args[j]
			}
		}
		add(where, at, word)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		add("env."+name, s.At.Env[name], s.Env[name])
	}
	add("cwd", s.At.Dir, s.Dir)
	add("url", s.At.URL, s.URL)
	return out
}

// Expanded is the entry with the directories and the proposed inputs in the place of the
// references to them in its command and its working directory. All others stay as they are written.
func (s Server) Expanded(c Context) Server {
	expand := func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(m string) string {
			if value, missing := s.resolve(m, c); missing == "" && value != "" {
				return value
			}
			return m
		})
	}
	command := slices.Clone(s.Command)
	for i, word := range command {
		command[i] = expand(word)
	}
	s.Command, s.Dir = command, expand(s.Dir)
	s.Kind, s.Package = Recognize(command)
	if len(command) == 0 {
		s.Kind = KindURL
	}
	return s
}

// Start is the directory that an expanded entry starts in, "" where the entry names none. A
// relative one lies below the workspace, or below the working directory of this process
// where no workspace is known.
func (s Server) Start(c Context) (string, error) {
	if s.Dir == "" {
		return "", nil
	}
	if m := reference.FindString(s.Dir); m != "" {
		_, missing := s.resolve(m, c)
		return "", fmt.Errorf("server %s: the working directory %s is not known: %s", quote(s.Name), quote(s.Dir), cmp.Or(missing, m+" differs in the sandbox"))
	}
	if filepath.IsAbs(s.Dir) {
		return filepath.Clean(s.Dir), nil
	}
	return filepath.Join(c.Workspace, s.Dir), nil
}

// resolve is what takes the place of a reference, or why nothing does.
func (s Server) resolve(text string, c Context) (value, missing string) {
	name := strings.Trim(text, "${} ")
	kind, rest, colon := strings.Cut(name, ":")
	switch {
	case strings.HasPrefix(text, "${{"):
		return "", "the client's store of secrets has it"
	case colon && kind == "input":
		in, declared := s.Inputs[rest]
		switch {
		case !declared:
			return "", "no input of this name is declared"
		case in.Default != "":
			return in.Default, ""
		}
		return "", "the client asks its user"
	case colon && kind == "env":
		return c.variable(rest)
	case colon && strings.HasPrefix(rest, "-"):
		if c.IsSet != nil && c.IsSet(kind) {
			return "", ""
		}
		return strings.TrimPrefix(rest, "-"), ""
	case colon && kind == "workspaceFolder":
		return "", "which folder of a workspace is meant is not known"
	case colon:
		return "", "the client has the value: " + kind
	}
	return c.named(name, text)
}

// named resolves a reference that is one word.
func (c Context) named(name, text string) (value, missing string) {
	directory := func(dir, what string) (string, string) {
		if dir == "" {
			return "", what + " is not known"
		}
		return dir, ""
	}
	switch name {
	case "workspaceFolder", "workspaceRoot", "CLAUDE_PROJECT_DIR":
		return directory(c.Workspace, "the project's directory")
	case "workspaceFolderBasename":
		return directory(filepath.Base(c.Workspace), "the project's directory")
	case "__dirname", "CLAUDE_PLUGIN_ROOT", "extensionPath":
		return directory(c.Bundle, "the bundle's directory")
	case "pathSeparator", "/":
		return string(filepath.Separator), ""
	case "userHome":
		return "", "" // the sandbox has a home of its own
	}
	if strings.HasPrefix(name, "user_config.") {
		return "", "the client asks its user"
	}
	if !strings.HasPrefix(text, "$") {
		return "", "the client asks its user"
	}
	return c.variable(name)
}

// variable says whether a variable of the environment is there; its value stays there.
func (c Context) variable(name string) (value, missing string) {
	if c.IsSet != nil && c.IsSet(name) {
		return "", ""
	}
	return "", "the variable " + quote(name) + " is not set"
}

var inputReference = regexp.MustCompile(`\$\{input:([^{}\n]{1,200})\}`)

// asked are the declared inputs that an entry refers to, nil for none.
func (p *parser) asked(s *Server) map[string]Input {
	var out map[string]Input
	texts := append(slices.AppendSeq(slices.Clone(s.Command), maps.Values(s.Env)), s.URL, s.Dir)
	for _, text := range texts {
		for _, m := range inputReference.FindAllStringSubmatch(text, maxReferences) {
			in, ok := p.input(m[1])
			if !ok {
				continue
			}
			if out == nil {
				out = map[string]Input{}
			}
			out[m[1]] = in
		}
	}
	return out
}

// input finds a declared input of VS Code's.
func (p *parser) input(id string) (Input, bool) {
	if p.inputs == nil {
		p.inputs = map[string]Input{}
		list := p.root.get("inputs")
		if list == nil {
			list = &node{}
		}
		for _, n := range list.items {
			in := Input{Default: n.field("default")}
			if v := n.get("password"); v != nil {
				in.Secret = v.kind == scalar && strings.EqualFold(v.text, "true")
			}
			if name := n.field("id"); name != "" {
				p.inputs[name] = in
			}
		}
	}
	in, ok := p.inputs[id]
	return in, ok
}
