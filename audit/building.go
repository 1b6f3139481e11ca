package audit

import (
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// buildSystem is what pyproject.toml says of how the package is built: PEP 517, and the hooks of Hatch, PDM and Poetry.
type buildSystem struct {
	System struct {
		Backend string   `toml:"build-backend"`
		Path    []string `toml:"backend-path"`
	} `toml:"build-system"`
	Tool struct {
		Hatch struct {
			Build struct {
				Hooks   hatchHooks
				Targets map[string]struct{ Hooks hatchHooks }
			}
		}
		PDM struct {
			Build struct {
				Hook string `toml:"custom-hook"`
			}
		}
		Poetry struct {
			Build any
		}
	}
}

type hatchHooks struct {
	Custom *struct{ Path string }
}

// file is the one that a hook of Hatch runs, "" for no hook.
func (h hatchHooks) file() string {
	if h.Custom == nil {
		return ""
	}
	if h.Custom.Path == "" {
		return "hatch_build.py"
	}
	return h.Custom.Path
}

// maxBuilding bounds the files that a build is known to run.
const maxBuilding = 100

// pythonBuild reports what building the package runs of its own code: installing an archive of sources builds it.
func (a *auditor) pythonBuild(p string, data []byte) {
	var m buildSystem
	if toml.Unmarshal(data, &m) != nil {
		return
	}
	src := string(data)
	runs := func(near, who string, files ...string) {
		for _, f := range files {
			if len(a.building) < maxBuilding {
				a.building[path.Clean(f)] = true
			}
		}
		a.add(InstallScript, finding.Low, p, src, max(strings.Index(src, near), 0), "building the package runs code of its own: "+who, who)
	}
	if b := m.System; b.Backend != "" && len(b.Path) > 0 {
		module, _, _ := strings.Cut(b.Backend, ":")
		file := strings.ReplaceAll(module, ".", "/")
		var files []string
		for _, dir := range b.Path[:min(len(b.Path), maxBuilding)] {
			files = append(files, path.Join(dir, file+".py"), path.Join(dir, file, "__init__.py"))
		}
		runs("backend-path", "the build backend "+shown(b.Backend), files...)
	}
	hooks := []string{m.Tool.Hatch.Build.Hooks.file()}
	for _, target := range sortedNames(m.Tool.Hatch.Build.Targets) {
		hooks = append(hooks, m.Tool.Hatch.Build.Targets[target].Hooks.file())
	}
	if script, ok := m.Tool.Poetry.Build.(map[string]any); ok {
		name, _ := script["script"].(string)
		hooks = append(hooks, name)
	} else if name, ok := m.Tool.Poetry.Build.(string); ok {
		hooks = append(hooks, name)
	}
	hooks = append(hooks, m.Tool.PDM.Build.Hook)
	slices.Sort(hooks)
	for _, f := range slices.Compact(hooks) {
		if f != "" {
			runs("build", "the hook "+shown(f), f)
		}
	}
}

// builds reports what a file does that runs when the package is built: programs that it starts, and what it asks the network for.
func (e *fileEffects) builds() {
	if e.file.Path != "setup.py" && !e.a.building[e.file.Path] {
		return
	}
	for _, of := range []struct {
		kind     sinks.Kind
		severity finding.Severity
		text     string
	}{{sinks.Process, finding.Low, "building the package starts programs: "}, {sinks.Network, finding.Medium, "building the package uses the network: "}} {
		if names := e.seen[of.kind]; len(names) > 0 {
			e.add(InstallScript, of.severity, e.first[of.kind], of.text+strings.Join(names, ", "), string(of.kind))
		}
	}
	for i := range e.facts.Calls {
		e.buildCommand(&e.facts.Calls[i])
	}
}

// buildCommand judges the command of a call that starts a program, where it is a constant.
func (e *fileEffects) buildCommand(c *lang.CallSite) {
	starts := slices.ContainsFunc(c.Names, func(n string) bool {
		kinds, _ := sinks.Of(e.file.Language, n, &c.Call)
		return slices.Contains(kinds, sinks.Process)
	})
	if !starts || len(c.Call.Args) == 0 {
		return
	}
	command := constant(c.Call.Args[0].Value)
	if list, ok := c.Call.Args[0].Value.(lang.Collection); ok {
		words := make([]string, len(list.Items))
		for i, it := range list.Items {
			words[i] = constant(it.Value)
		}
		command = quoted(words)
	}
	if command != "" {
		src := e.at.source(e.file.Path)
		e.a.shellText(e.file.Path, src, command, c.Call.Start.Offset(), finding.High)
	}
}

// pathImport begins a line of a .pth that Python runs at each start: https://docs.python.org/3/library/site.html.
var pathImport = lazyregexp.New(`(?m)^import[ \t].*`)

// pathFile judges a file that Python reads where packages are installed.
func (a *auditor) pathFile(p, src string) {
	if !strings.HasSuffix(p, ".pth") {
		return
	}
	if at := pathImport.FindStringIndex(src); at != nil {
		a.add(InstallScript, finding.Medium, p, src, at[0], "each start of Python runs a line of this file: "+shown(src[at[0]:at[1]]), "")
		a.encoded(p, src)
	}
}

var (
	// gypAction is the list of words of a command that node-gyp runs.
	gypAction = lazyregexp.New(`['"]action['"]\s*:\s*\[([^\]]*)\]`)
	// gypWord is a word of such a list.
	gypWord = lazyregexp.New(`'([^'\n]*)'|"([^"\n]*)"`)
)

// maxGyp bounds the commands of a binding.gyp that are judged.
const maxGyp = 100

// gypCommands are the commands that node-gyp runs for a binding.gyp, with their places: those of
// actions, and those whose output is filled in: https://gyp.gsrc.io/docs/InputFormatReference.md.
func gypCommands(src string) (out []placedCommand) {
	for _, m := range gypAction.FindAllStringSubmatchIndex(src, maxGyp) {
		var list []string
		for _, w := range gypWord.FindAllStringSubmatch(src[m[2]:m[3]], maxArguments) {
			list = append(list, w[1]+w[2])
		}
		if len(list) > 0 {
			out = append(out, placedCommand{quoted(list), m[0]})
		}
	}
	for from := 0; len(out) < maxGyp; {
		i := strings.Index(src[from:], "<!")
		if i < 0 {
			break
		}
		from += i + len("<!")
		inner, isCommand := strings.CutPrefix(strings.TrimPrefix(src[from:min(len(src), from+4_000)], "@"), "(")
		if !isCommand {
			continue
		}
		out = append(out, placedCommand{inner[:closing(inner)], from})
	}
	return out
}

// placedCommand is a command of a shell, and where it stands.
type placedCommand struct {
	text string
	at   int
}

// closing is where the parenthesis ends in which a text stands.
func closing(s string) int {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '\n':
			return i
		}
	}
	return len(s)
}

// gypBuild reports what npm runs by itself for a package with a binding.gyp at its root, which no script
// and no "gypfile" of the manifest replaces.
func (a *auditor) gypBuild(isReplaced bool) {
	const p = "binding.gyp"
	data, err := a.read(p)
	if err != nil {
		return
	}
	src, told := string(data), ""
	for i, c := range gypCommands(src) {
		if i < 3 {
			told += "; " + shown(c.text)
		}
		a.shellText(p, src, c.text, c.at, finding.High)
	}
	if !isReplaced {
		a.add(InstallScript, finding.Low, p, src, 0, "npm builds the package with node-gyp when it is installed"+told, "")
	}
}
