package config

import (
	"slices"
	"strings"
)

// Launch is how a command that fetches a package starts it.
type Launch struct {
	Kind Kind
	// Package is the name as the runner takes it, With are those beside it.
	Package string
	With    []string
	// Bin is the program asked for, "" for the package's own.
	Bin string
	// Args are the server's arguments. For an image they take the place of its own.
	Args []string
	// Entrypoint, Env and Places are an image's: what takes the place of its entry
	// point, the variables as "NAME=VALUE" or "NAME", and the directories that are
	// mounted into it.
	Entrypoint  string
	Env, Places []string
	// Refused is the first option that decides what is fetched or run and is not
	// followed here, "" for none.
	Refused string
}

// indifferent are options with a value that do not decide what is fetched.
var indifferent = []string{"--cache", "--cache-dir", "--loglevel", "--python", "-p", "--prerelease", "--index-strategy", "--refresh-package", "-P", "--upgrade-package"}

// LaunchOf reads a command that Recognize knows; ok is false for any other.
func LaunchOf(command []string) (l Launch, ok bool) {
	kind, name := Recognize(command)
	words := normalized(command)
	switch kind {
	case KindNPM, KindPyPI:
		for _, r := range runners {
			rest, is := after(words, strings.Fields(r.words))
			if !is || r.runner.kind != kind {
				continue
			}
			if a, known := r.runner.split(rest); known {
				return a.launch(kind, name), true
			}
		}
	case KindOCI:
		i := slices.Index(words, "run")
		l := imageLaunch(words[i+1:])
		return l, l.Package != ""
	}
	return Launch{}, false
}

func (a *arguments) launch(kind Kind, name string) Launch {
	l := Launch{Kind: kind, Package: name}
	rest := a.rest
	if len(a.from) > 0 {
		l.With = slices.Clone(a.from[1:])
		if len(rest) > 0 {
			l.Bin = rest[0]
		}
	}
	l.Args = slices.Clone(rest[min(1, len(rest)):])
	for _, o := range a.values {
		switch {
		case o.name == "--with" || o.name == "-w" && kind == KindPyPI:
			l.With = append(l.With, strings.Split(o.value, ",")...)
		case !slices.Contains(indifferent, o.name) && l.Refused == "":
			l.Refused = o.name
		}
	}
	return l
}

// imageLaunch reads the arguments of "docker run".
func imageLaunch(args []string) Launch {
	l := Launch{Kind: KindOCI}
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a, "=")
		switch {
		case a == "--":
			continue
		case !strings.HasPrefix(a, "-") || a == "-":
			l.Package, l.Args = a, slices.Clone(args[i+1:])
			return l
		case strings.HasPrefix(a, "--"):
			if slices.Contains(dockerFlags, name) {
				continue
			}
			if !joined {
				i++
				value = at(args, i)
			}
		default:
			// The first letter that takes a value takes the rest, or the next argument.
			rest := strings.TrimLeft(a[1:], dockerLetters)
			if rest == "" {
				continue
			}
			name, value = "-"+rest[:1], strings.TrimPrefix(rest[1:], "=")
			if len(rest) == 1 {
				i++
				value = at(args, i)
			}
		}
		l.dockerOption(name, value)
	}
	return Launch{}
}

func (l *Launch) dockerOption(name, value string) {
	switch name {
	case "-e", "--env":
		l.Env = append(l.Env, value)
	case "--entrypoint":
		l.Entrypoint = value
	case "-v", "--volume":
		if parts := strings.Split(value, ":"); len(parts) > 1 {
			l.Places = append(l.Places, parts[1])
		}
	case "--mount":
		for part := range strings.SplitSeq(value, ",") {
			if k, v, _ := strings.Cut(part, "="); k == "dst" || k == "target" || k == "destination" {
				l.Places = append(l.Places, v)
			}
		}
	case "--env-file", "-w", "--workdir", "--platform", "--pull":
		if l.Refused == "" && name != "--pull" {
			l.Refused = name
		}
	}
}
