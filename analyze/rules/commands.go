package rules

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// command is what another program runs or follows, by the place in a file where it stands.
type command struct{ where, text string }

// formula is where a cell of a table stands, and dependencyOf begins the place of a package from elsewhere.
const formula, dependencyOf = "formula", "dependency "

// obeyedFile is a kind of file that other programs take commands from.
type obeyedFile struct {
	// is reports whether a path is of the kind; read takes the commands from a text.
	is   func(p string) bool
	read func(text string) []command
	// words are by which a declaration speaks of such commands.
	words []string
	// talks says that commands of the kind download as a rule.
	talks bool
	// loud says that of an added line only one counts that downloads or runs a shell.
	loud bool
}

var obeyedFiles = []obeyedFile{
	{is: named("package.json"), read: npmManifest, words: []string{"script", "scripts", "lifecycle", "hook", "hooks", "husky"}},
	{is: named(".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "bunfig.toml"), read: keyed(`script-shell|(?:@[^:]+:)?registry|node-options|shell|yarnPath|yarn-path|git|index-url|extra-index-url|npmRegistryServer`), words: []string{"registry", "registries", "npmrc", "mirror"}},
	{is: endsIn("/.git/config", "/.gitconfig", "/.config/git/config", "/.gitmodules"), read: gitCommands, words: []string{"hook", "hooks", "alias", "aliases", "filter", "lfs", "config", "configures", "configuration", "submodule", "submodules"}},
	{is: lies("/.git/hooks/", "/.husky/", "/.githooks/"), read: shellLines, words: []string{"hook", "hooks", "husky"}},
	{is: lies("/.vscode/", "/.cursor/", "/.claude/", "/.zed/", "/.devcontainer/"), read: editorCommands, words: []string{"task", "tasks", "launch", "debug", "debugger", "mcp", "hook", "hooks", "agent", "vscode", "editor", "devcontainer"}},
	{is: named(".mcp.json", ".claude.json", "claude_desktop_config.json", "mcp.json", "opencode.json"), read: editorCommands, words: []string{"mcp", "server", "servers", "agent"}},
	{is: named("Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "Rakefile", "setup.py", "conftest.py", "noxfile.py", "tox.ini"), read: allLines, words: []string{"makefile", "justfile", "recipe", "recipes", "target", "targets"}, loud: true},
	{is: named("pyproject.toml", "setup.cfg"), read: pythonBuild, words: []string{"build", "backend", "entry", "entrypoint", "script", "scripts", "command", "commands"}},
	{is: requirements, read: matching(`^(?:--(?:extra-)?index-url|-i|--find-links|-f)\b|^(?:-e\s+)?(?:git\+|https?:)|\s@\s*(?:git\+|https?:)`), words: dependencyWords},
	{is: named("go.mod"), read: matching(`=>`), words: append([]string{"replace", "replaces", "module", "modules"}, dependencyWords...)},
	{is: named("Cargo.toml", "Gemfile"), read: matching(`\bgit(?:hub)?\s*[=:]|^source\s`), words: append([]string{"crate", "crates", "gem", "gems"}, dependencyWords...)},
	{is: endsIn(".csv", ".tsv"), read: formulas, words: []string{"formula", "formulas", "hyperlink", "hyperlinks", "link", "links"}},
	{is: docker, read: matching(`(?i)^\s*(?:RUN|CMD|ENTRYPOINT|HEALTHCHECK)\s|^\s*ADD\s+https?:|^\s*(?:command|entrypoint):`), words: []string{"dockerfile", "docker", "container", "containers", "image", "compose"}, talks: true},
	{is: continuous, read: ciCommands, words: []string{"workflow", "workflows", "ci", "pipeline", "pipelines", "action", "actions"}, talks: true},
	{is: named(".pre-commit-config.yaml", "lefthook.yml"), read: matching(`^\s*(?:- )?(?:entry|repo|run):`), words: []string{"hook", "hooks", "pre-commit", "commit"}},
	{is: crontab, read: shellLines, words: []string{"cron", "crontab", "schedule", "schedules", "scheduled", "job", "jobs"}},
	{is: lies("/.config/autostart/", "/systemd/user/", "/.local/share/applications/"), read: matching(`^(?:Exec|ExecStart|ExecStartPre|ExecStop)=`), words: []string{"autostart", "service", "services", "systemd", "launcher", "desktop", "unit", "timer"}},
	{is: startUp, read: shellLines, words: []string{"alias", "aliases", "profile", "shell", "path", "export", "exports", "environment", "completion", "completions", "bashrc", "zshrc", "envrc", "direnv", "dotfiles", "variables"}},
}

// obeyedKind is the kind of file at a path, nil for none. What a package manager unpacked is another's.
func obeyedKind(p string) *obeyedFile {
	if slices.ContainsFunc([]string{"/node_modules/", "/site-packages/", "/.venv/", "/vendor/"}, func(part string) bool { return strings.Contains(p, part) }) || strings.HasSuffix(p, ".sample") {
		return nil
	}
	if i := slices.IndexFunc(obeyedFiles, func(o obeyedFile) bool { return o.is(p) }); i >= 0 {
		return &obeyedFiles[i]
	}
	return nil
}

func named(names ...string) func(string) bool {
	return func(p string) bool { return slices.Contains(names, path.Base(p)) }
}

func endsIn(ends ...string) func(string) bool {
	return func(p string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(p, end) })
	}
}

func lies(dirs ...string) func(string) bool {
	return func(p string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.Contains(p, dir) })
	}
}

func docker(p string) bool {
	base := path.Base(p)
	return strings.HasPrefix(base, "Dockerfile") || strings.HasSuffix(base, ".Dockerfile") || base == "Containerfile" || slices.Contains([]string{"docker-compose.yml", "docker-compose.yaml", "compose.yaml", "compose.yml"}, base)
}

func continuous(p string) bool {
	return lies("/.github/workflows/", "/.circleci/", "/.github/actions/")(p) || named(".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", "Jenkinsfile")(p)
}

func crontab(p string) bool {
	return lies("/spool/cron/", "/etc/cron")(p) || named("crontab")(p)
}

func startUp(p string) bool {
	return named(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zsh_aliases", ".aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".xprofile", ".xsession", ".xinitrc", ".envrc", "config.fish")(p) || lies("/.config/fish/conf.d/", "/.config/environment.d/")(p)
}

// dependencyWords are by which a declaration speaks of where packages come from.
var dependencyWords = []string{"dependency", "dependencies", "requirement", "requirements", "package", "packages", "install", "installs", "index"}

func requirements(p string) bool {
	base := path.Base(p)
	return strings.HasSuffix(base, ".txt") && (strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "constraints"))
}

// reachingOut is a formula by which a spreadsheet asks another host, or starts a program.
var reachingOut = lazyregexp.New(`(?i)[=+@-][^\n]{0,300}?\b(?:WEBSERVICE|HYPERLINK|IMPORT(?:XML|DATA|HTML|FEED|RANGE)|IMAGE|FILTERXML|RTD|DDE|CALL|REGISTER\.ID)\s*\([^\n]*|[=+@-]\s*\w+\|[^\n]*![^\n]*`)

// formulas are the cells of a table, as its file separates them, that reach out when a spreadsheet opens it.
func formulas(text string) []command {
	var out []command
	for _, c := range allLines(text) {
		cell := strings.TrimLeft(c.text, "\"' ")
		if at := strings.IndexAny(c.text, "=@+"); at > 0 && strings.ContainsRune(",;\t\"'", rune(c.text[at-1])) {
			cell = c.text[at:]
		}
		if m := reachingOut.FindStringIndex(cell); m != nil && m[0] == 0 {
			out = append(out, command{formula, cell})
		}
	}
	return out
}

// maxNested bounds how deep overrides are read.
const maxNested = 8

// foreignSource is a package that comes from elsewhere than a registry.
var foreignSource = lazyregexp.New(`^(?:git\+|git:|git@|https?:|ssh:|github:|gitlab:|bitbucket:|npm:)|^[\w.-]+/[\w.-]+(?:#\S+)?$`)

// npmManifest are the scripts of a package.json that npm runs, and the packages that it takes from elsewhere.
func npmManifest(text string) []command {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	out := npmScripts(text)
	for _, section := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides", "resolutions"} {
		var of any
		if json.Unmarshal(m[section], &of) == nil {
			out = append(out, sourcesIn(dependencyOf+section, "", of, 0)...)
		}
	}
	return out
}

// sourcesIn are the packages from elsewhere in a section of a package.json, whose overrides may be nested.
func sourcesIn(section, name string, v any, depth int) (out []command) {
	switch v := v.(type) {
	case string:
		if foreignSource.MatchString(v) {
			out = append(out, command{section, name + " = " + v})
		}
	case map[string]any:
		for name, e := range v {
			if depth < maxNested {
				out = append(out, sourcesIn(section, name, e, depth+1)...)
			}
		}
	}
	return out
}

// isGrave reports whether a command downloads or runs a shell, asks another host from a table, or is a package from elsewhere.
func (c *command) isGrave() bool {
	return loudCommand.MatchString(c.text) || c.where == formula || strings.HasPrefix(c.where, dependencyOf)
}

// lifecycle are the scripts that npm runs by itself.
var lifecycle = []string{"preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "prepublish", "prepublishOnly", "prepack", "postpack"}

// npmScripts are the scripts of a package.json: those that npm runs by itself, and others that download or
// run a shell.
func npmScripts(text string) []command {
	var m struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	var out []command
	for name, value := range m.Scripts {
		if s, ok := value.(string); ok && (slices.Contains(lifecycle, name) || loudCommand.MatchString(s)) {
			out = append(out, command{name, s})
		}
	}
	return out
}

// keyed takes the values of some keys.
func keyed(keys string) func(string) []command {
	re := lazyregexp.New(`(?m)^\s*"?(` + keys + `)"?\s*[=: ]\s*(\S.*)$`)
	return func(text string) []command {
		var out []command
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			out = append(out, command{m[1], m[2]})
		}
		return out
	}
}

// matching takes whole lines.
func matching(line string) func(string) []command {
	re := lazyregexp.New(line)
	return func(text string) []command {
		return slices.DeleteFunc(allLines(text), func(c command) bool { return !re.MatchString(c.text) })
	}
}

// allLines are all lines that are no comments.
func allLines(text string) []command {
	var out []command
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") && !strings.HasPrefix(s, "//") {
			out = append(out, command{"", s})
		}
	}
	return out
}

// plumbing are lines of shells that run nothing.
var plumbing = lazyregexp.New(`^(?:fi|done|else|then|esac|do|\{|\}|;;|set [-+]\S+|exit \d|return(?: \d)?|[A-Z]+=\S*)$`)

// shellLines are the lines of a shell's file.
func shellLines(text string) []command {
	return slices.DeleteFunc(allLines(text), func(c command) bool { return plumbing.MatchString(c.text) })
}

// gitKeys are settings of git, with their sections, by which it runs a program or goes elsewhere.
var (
	gitSection = lazyregexp.New(`^\[\s*([\w.-]+)(?:\s+"(.*)")?\s*\]`)
	gitKeys    = lazyregexp.New(`(?i)^(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor|gitproxy|askpass)|alias\.\S+|filter\.(?:clean|smudge|process)|diff\.(?:command|textconv|external)|merge\.driver|credential\.helper|include(?:if)?\.path|url\.(?:insteadof|pushinsteadof)|sequence\.editor|gpg\.program|pager\.\S+|submodule\.update)$`)
)

// gitCommands are the settings of git by which it runs something.
func gitCommands(text string) []command {
	var out []command
	section, name := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := gitSection.FindStringSubmatch(line); m != nil {
			section, name = m[1], m[2]
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = section+"."+strings.TrimSpace(key), strings.TrimSpace(value)
		isAlias := strings.EqualFold(section, "alias")
		if gitKeys.MatchString(key) && value != "" && value != "false" && value != "true" && (!isAlias || strings.HasPrefix(strings.Trim(value, `"`), "!")) {
			if strings.EqualFold(section, "url") {
				value = name + " for " + value
			}
			out = append(out, command{key, value})
		}
	}
	return out
}

// editorKey is a setting by which an editor or an agent runs something.
var editorKey = lazyregexp.New(`"((?:[\w.-]*\.)?(?:command|args|runtimeExecutable|preLaunchTask|postCreateCommand|postStartCommand|postAttachCommand|onCreateCommand|initializeCommand|runOn|url|apiKeyHelper|allowAutomaticTasks|defaultInterpreterPath|nodePath|shellArgs|automationProfile\.\w+|[\w.]*git\.path))"\s*:\s*("(?:[^"\\]|\\.)*"|\[[^\]]*\]|true)`)

func editorCommands(text string) []command {
	var out []command
	for _, m := range editorKey.FindAllStringSubmatch(text, -1) {
		out = append(out, command{m[1], strings.Join(strings.Fields(m[2]), " ")})
	}
	return out
}

// foreignPython is a package, or an index of packages, of a pyproject.toml that comes from elsewhere.
var foreignPython = lazyregexp.New(`["'][\w.\[\]-]+\s*@\s*(?:git\+|https?:)|\{\s*(?:git|url)\s*=\s*["']|^url\s*=\s*["']https?:`)

// pythonBuild are what builds a package of Python, and the programs that it installs.
func pythonBuild(text string) []command {
	var out []command
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = strings.Trim(line, "[]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if foreignPython.MatchString(line) {
			out = append(out, command{"dependency", line})
			continue
		}
		if ok && (slices.Contains([]string{"build-backend", "backend-path", "cmdclass"}, key) || strings.HasSuffix(section, "scripts") || strings.Contains(section, "entry-points") || strings.HasSuffix(section, "entry_points")) && value != "" {
			out = append(out, command{key, value})
		}
	}
	return out
}

// ciStep is a line of a step that names what it runs.
var ciStep = lazyregexp.New(`^(?:- )?(?:run|uses|script|before_script|after_script|command):\s*[^|>\s]`)

// ciCommands are what a build service runs: the steps, and lines that download or run a shell.
func ciCommands(text string) []command {
	return slices.DeleteFunc(allLines(text), func(c command) bool { return !ciStep.MatchString(c.text) && !loudCommand.MatchString(c.text) })
}

// loudCommand is a command that downloads or runs a shell.
var loudCommand = lazyregexp.New(`(?i)\b(?:curl|wget|iwr|invoke-webrequest|nc|ncat|socat|powershell)\b|\|\s*(?:sudo )?(?:ba|z|da|k)?sh\b|\b(?:ba|z|da|k)?sh -\w*c\b|\beval\b|\bbase64 (?:-d|-D|--decode)|/dev/tcp/|\bpython[\d.]* -c|\bnode (?:-e|--eval)|\bperl -e|\bruby -e|\bnpx (?:-y|--yes)\b|\burllib\b|\brequests\.|\bos\.system\b|\bsubprocess\b|\bexec\(`)
