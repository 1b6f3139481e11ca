package config

import (
	"slices"
	"strings"
)

// Kind says what a command runs.
type Kind string

// The kinds of a Server.
const (
	KindCommand Kind = "command" // anything else: a program that is there
	KindNPM     Kind = "npm"     // a package that npx or its like fetches
	KindPyPI    Kind = "pypi"    // a package that uvx or pipx fetches
	KindOCI     Kind = "oci"     // an image that docker or podman runs
	KindURL     Kind = "url"     // no command at all
)

// runner knows the options of a program that fetches what it runs.
type runner struct {
	kind Kind
	// flags stand alone; of the options with a value, from names the package.
	flags, values, from []string
}

var (
	npmRunner = runner{KindNPM,
		[]string{"-y", "--yes", "-q", "--quiet", "-s", "--silent", "--prefer-offline", "--prefer-online", "--offline", "--no-install", "--ignore-existing", "--bun", "--verbose"},
		[]string{"--registry", "--cache", "--userconfig", "--loglevel", "-w", "--workspace"},
		[]string{"-p", "--package"}}
	uvRunner = runner{KindPyPI,
		[]string{"-q", "--quiet", "-v", "--verbose", "-n", "--no-cache", "--isolated", "--refresh", "--offline", "-U", "--upgrade", "--native-tls", "--no-config", "--no-progress", "--managed-python", "--no-managed-python", "--no-python-downloads", "--reinstall"},
		[]string{"-w", "--with", "--with-editable", "--with-requirements", "-p", "--python", "-i", "--index-url", "--default-index", "--index", "--extra-index-url", "-f", "--find-links", "--prerelease", "--index-strategy", "--cache-dir", "--directory", "--project", "--env-file", "--constraints", "-c", "--exclude-newer", "--refresh-package", "-P", "--upgrade-package"},
		[]string{"--from"}}
	pipxRunner = runner{KindPyPI,
		[]string{"--no-cache", "--pypackages", "--verbose", "-v", "-q", "--quiet", "--system-site-packages"},
		[]string{"--python", "-i", "--index-url", "--pip-args"},
		[]string{"--spec"}}
)

// runners are found by the words that a command starts with.
var runners = []struct {
	words  string
	runner runner
}{
	{"npx", npmRunner}, {"bunx", npmRunner}, {"pnpx", npmRunner},
	{"npm exec", npmRunner}, {"npm x", npmRunner}, {"pnpm dlx", npmRunner}, {"yarn dlx", npmRunner}, {"bun x", npmRunner},
	{"uvx", uvRunner}, {"uv tool run", uvRunner}, {"pipx run", pipxRunner},
}

// Recognize tells what a command fetches and runs. A command with an option
// that is not known is KindCommand: a guess could name the wrong package.
func Recognize(command []string) (Kind, string) {
	words := normalized(command)
	if len(words) == 0 {
		return KindCommand, ""
	}
	for _, r := range runners {
		if rest, ok := after(words, strings.Fields(r.words)); ok {
			if name := r.runner.find(rest); name != "" {
				return r.runner.kind, name
			}
		}
	}
	for _, engine := range []string{"docker", "podman", "nerdctl"} {
		for _, run := range [][]string{{engine, "run"}, {engine, "container", "run"}} {
			if rest, ok := after(words, run); ok {
				if name := image(rest); name != "" {
					return KindOCI, name
				}
			}
		}
	}
	return KindCommand, ""
}

// normalized drops a Windows shell in front, and the executable's directory
// and extension.
func normalized(command []string) []string {
	for len(command) > 0 {
		base := command[0][strings.LastIndexAny(command[0], `/\`)+1:]
		for _, ext := range []string{".exe", ".cmd", ".bat"} {
			if n := len(base) - len(ext); n > 0 && strings.EqualFold(base[n:], ext) {
				base = base[:n]
			}
		}
		if len(command) > 2 && strings.EqualFold(base, "cmd") && strings.EqualFold(command[1], "/c") {
			command = command[2:]
			continue
		}
		return append([]string{base}, command[1:]...)
	}
	return nil
}

func after(words, prefix []string) ([]string, bool) {
	if len(words) < len(prefix) || !slices.Equal(words[:len(prefix)], prefix) {
		return nil, false
	}
	return words[len(prefix):], true
}

// find returns the package among a runner's arguments, "" if it is not sure.
func (r runner) find(args []string) string {
	a, ok := r.split(args)
	switch {
	case !ok:
		return ""
	case len(a.from) > 0:
		return a.from[0]
	case len(a.rest) > 0:
		return a.rest[0]
	}
	return ""
}

// arguments are a runner's own options and what it hands on.
type arguments struct {
	// from are the packages that an option names; rest begins with the first word
	// that is no option.
	from, rest []string
	// values are the options with a value, in order.
	values []option
}

// option is one of a runner's with its value.
type option struct{ name, value string }

// split takes a runner's arguments apart; it is false where an option is not known.
func (r runner) split(args []string) (out arguments, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a, "=")
		switch {
		case a == "--":
			out.rest = args[i+1:]
			return out, true
		case !strings.HasPrefix(a, "-"):
			out.rest = args[i:]
			return out, true
		case slices.Contains(r.flags, name):
		case slices.Contains(r.from, name), slices.Contains(r.values, name):
			if !joined {
				if i++; i >= len(args) {
					return arguments{}, false
				}
				value = args[i]
			}
			if slices.Contains(r.from, name) {
				out.from = append(out.from, value)
			} else {
				out.values = append(out.values, option{name, value})
			}
		default:
			return arguments{}, false
		}
	}
	return out, true
}

// The options of "docker run" that stand alone. All others take a value.
var (
	dockerFlags = []string{"--rm", "--init", "--interactive", "--tty", "--detach", "--privileged", "--read-only", "--quiet",
		"--publish-all", "--no-healthcheck", "--oom-kill-disable", "--sig-proxy", "--disable-content-trust", "--use-api-socket"}
	dockerLetters = "itdPq"
)

// image returns the image among the arguments of "docker run".
func image(args []string) string {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return at(args, i+1)
		case !strings.HasPrefix(a, "-") || a == "-":
			return a
		case strings.HasPrefix(a, "--"):
			if !strings.Contains(a, "=") && !slices.Contains(dockerFlags, a) {
				i++
			}
		default:
			// The first letter that takes a value takes the rest, or the next argument.
			if rest := strings.TrimLeft(a[1:], dockerLetters); len(rest) == 1 {
				i++
			}
		}
	}
	return ""
}

func at(args []string, i int) string {
	if i < len(args) {
		return args[i]
	}
	return ""
}
