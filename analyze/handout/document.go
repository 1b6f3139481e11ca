package handout

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/audit/lang/dockerfile"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// looksStructured is a text of YAML or JSON that may hold commands.
var looksStructured = lazyregexp.New(`(?m)^\s*(?:-\s+)?["']?(?:run|script|scripts|before_script|after_script|command|commands|cmd|args|entrypoint|bash|pwsh|powershell|jobs|steps|uses|postCreateCommand|postinstall|preinstall)["']?\s*:|^\s*\{`)

// commandKeys are the keys below which YAML and JSON hold commands.
var commandKeys = strings.Fields("run script before_script after_script command commands cmd args entrypoint bash pwsh powershell inlinescript scripts shell exec task tasks postcreatecommand poststartcommand postattachcommand oncreatecommand test")

// envKeys are those of variables for commands.
var envKeys = strings.Fields("env environment variables")

// maxDocument bounds how deep a document is read.
const maxDocument = 40

// documentSnippets takes the commands out of YAML or JSON; ok is false for another text.
func documentSnippets(text string) (out []snippet, ok bool) {
	if !looksStructured.MatchString(text) {
		return nil, false
	}
	root := parseYAML(text)
	if root == nil || root.Kind != yaml.MappingNode && root.Kind != yaml.SequenceNode {
		return nil, false
	}
	d := document{}
	d.node(root, nil, 0)
	return d.out, d.seen
}

func parseYAML(text string) (root *yaml.Node) {
	defer func() {
		if recover() != nil { // a fault of the library must not end the run
			root = nil
		}
	}()
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// document is one document that is read. Aliases are not followed.
type document struct {
	out []snippet
	// seen says that it has a key of commands.
	seen bool
}

// members lists the members of a mapping by their names in lower case.
func members(n *yaml.Node) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		out[strings.ToLower(n.Content[i].Value)] = n.Content[i+1]
	}
	return out
}

func (d *document) node(n *yaml.Node, env map[string]secret, depth int) {
	if depth > maxDocument {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			d.node(c, env, depth+1)
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	list := members(n)
	for _, k := range envKeys {
		if e := list[k]; e != nil && e.Kind == yaml.MappingNode {
			env = withVariables(env, e)
		}
	}
	d.action(list, env)
	names := slices.Sorted(maps.Keys(list))
	for _, k := range names {
		v := list[k]
		if slices.Contains(commandKeys, k) {
			d.seen = true
			d.commands(v, languageOf(k, list["shell"]), env)
		}
		d.node(v, env, depth+1)
	}
}

// withVariables is an environment with more variables.
func withVariables(env map[string]secret, n *yaml.Node) map[string]secret {
	out := maps.Clone(env)
	if out == nil {
		out = map[string]secret{}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i].Value, n.Content[i+1].Value
		if s := ofExpressions(v, env); !s.none() {
			out[k] = s
		}
	}
	return out
}

func languageOf(key string, shell *yaml.Node) language {
	s := key
	if shell != nil && shell.Kind == yaml.ScalarNode {
		s = strings.ToLower(shell.Value)
	}
	switch {
	case strings.Contains(s, "python"):
		return pythonCode
	case strings.Contains(s, "pwsh") || strings.Contains(s, "powershell"):
		return powerShellCode
	case strings.Contains(s, "node"):
		return javascriptCode
	}
	return shellCode
}

// commands takes the commands below a key: a text, a list of texts, or a mapping of texts.
func (d *document) commands(n *yaml.Node, of language, env map[string]secret) {
	var lines []string
	switch n.Kind {
	case yaml.ScalarNode:
		lines = []string{n.Value}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Kind == yaml.ScalarNode {
				lines = append(lines, c.Value)
			}
		}
		if i := slices.Index(lines, "-c"); i > 0 && i+1 < len(lines) {
			lines = lines[i+1:] // the words of sh -c
		}
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.ScalarNode {
				d.commands(n.Content[i], of, env)
			}
		}
	}
	if len(lines) > 0 {
		d.out = append(d.out, snippet{language: of, code: strings.Join(lines, "\n"), env: env})
	}
}

// action judges a step that hands a program of others an address and a secret.
func (d *document) action(list map[string]*yaml.Node, env map[string]secret) {
	uses, with := list["uses"], list["with"]
	if uses == nil || with == nil || with.Kind != yaml.MappingNode {
		return
	}
	d.seen = true
	if strings.HasPrefix(uses.Value, "actions/github-script") {
		if script := members(with)["script"]; script != nil {
			d.out = append(d.out, snippet{language: javascriptCode, code: script.Value, env: env})
		}
		return
	}
	var host string
	var sent secret
	for i := 1; i < len(with.Content); i += 2 {
		v := with.Content[i].Value
		if h := hostIn(v); h != "" && host == "" {
			host = h
		}
		if s := ofExpressions(v, env); s.name == "" {
			sent = worse(sent, s) // a single secret is what the action asks for
		}
	}
	if leak, _ := sent.leaksTo(host); leak {
		d.out = append(d.out, snippet{leak: &Leak{Secret: sent.what, Via: uses.Value, Host: host, Sure: true}})
	}
}

// dockerSnippets takes the commands out of a Dockerfile.
func dockerSnippets(text string) (out []snippet) {
	var code []string
	for _, in := range dockerfile.Parse(text) {
		switch {
		case in.Name != "RUN" && in.Name != "CMD" && in.Name != "ENTRYPOINT":
		case len(in.Here) > 0:
			for _, h := range in.Here {
				code = append(code, h.Text)
			}
		case in.Exec != nil:
			if i := slices.Index(in.Exec, "-c"); i > 0 && i+1 < len(in.Exec) {
				code = append(code, in.Exec[i+1])
				continue
			}
			code = append(code, strings.Join(in.Exec, " "))
		default:
			code = append(code, in.Text)
		}
	}
	if len(code) > 0 {
		out = append(out, snippet{language: shellCode, code: strings.Join(code, "\n")})
	}
	return out
}
