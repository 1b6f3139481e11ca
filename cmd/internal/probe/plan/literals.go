package plan

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/taint"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth/answers"
	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maxWords bounds the names from the source that are tried as tools and
// arguments which nobody declared: each costs a call.
const maxWords = 24

// literalsOf are what the server's own source is written with, and the names in it;
// nothing where there is no source, or it cannot be read.
func literalsOf(source *os.Root) (schema.Literals, []string) {
	if source == nil {
		return schema.Literals{}, nil
	}
	found := literals.Read(source.FS())
	out := schema.Literals{Texts: found.Texts, Numbers: found.Numbers, Lengths: found.Lengths}
	for _, p := range found.Patterns {
		out.Patterns = append(out.Patterns, schema.Pattern(p))
	}
	return out, found.Names[:min(len(found.Names), maxWords)]
}

// fileName is a text of a source that could be a file's name.
var fileName = regexp.MustCompile("[\"'`]((?:~/)?[\\w.-]{3,32})[\"'`]")

// endings are those that a regular expression or a glob of a source has.
var endings = regexp.MustCompile(`\\\.\(?(?:\?:)?([a-z][a-z0-9|]{1,40})|\*\.([a-z][a-z0-9]{1,7})\b`)

// maxNames bounds the names of one kind that are taken from sources.
const maxNames = 20_000

// namesIn are what is found in the texts of a source, bounded; nothing where there is no source.
func namesIn(source *os.Root, find func(text string) []string) map[string]bool {
	out := map[string]bool{}
	if source == nil {
		return out
	}
	literals.Files(source.FS(), func(_, text string) {
		for _, name := range find(text) {
			if len(out) < maxNames {
				out[name] = true
			}
		}
	})
	return out
}

// fileNames are the texts of a source that could be names of files, and the endings of such names.
func fileNames(source *os.Root) map[string]bool {
	return namesIn(source, func(text string) (out []string) {
		for _, m := range fileName.FindAllStringSubmatch(text, maxNames) {
			out = append(out, m[1])
		}
		for _, m := range endings.FindAllStringSubmatch(text, maxNames) {
			for _, ending := range strings.Split(m[1]+m[2], "|") {
				out = append(out, "."+ending)
			}
		}
		return out
	})
}

// maxGuards bounds the guards of a plan: each costs a call.
const maxGuards = 200

// guardsOf are what the server's source tests arguments for before it acts on the world, the
// guards of programs and code first; nothing where there is no source. A literal that could be
// somebody's key is not handed on.
func guardsOf(source *os.Root) []schema.Guard {
	if source == nil {
		return nil
	}
	var out, paths []schema.Guard
	// What is read is bounded, so nothing ends it early.
	for _, found := range audit.Guards(context.Background(), source.FS()) {
		g := schema.Guard{Tool: found.Tool}
		for _, c := range found.Conditions {
			if c.Test != taint.Clock {
				g.Asks = append(g.Asks, schema.Ask{Parameter: c.Parameter, Test: string(c.Test), Text: c.Text, Number: c.Number})
			}
		}
		unfit := slices.ContainsFunc(g.Asks, func(a schema.Ask) bool {
			return a.Test == string(taint.Digest) || a.Parameter == "" || literals.KeyLike(a.Text)
		})
		if unfit || len(g.Asks) == 0 || g.Tool == "" {
			continue
		}
		if found.Effect == "path" {
			paths = append(paths, g)
		} else {
			out = append(out, g)
		}
	}
	out = slices.CompactFunc(append(out, paths...), func(a, b schema.Guard) bool {
		return a.Tool == b.Tool && slices.Equal(a.Asks, b.Asks)
	})
	return out[:min(len(out), maxGuards)]
}

// answersOf are the answers to what the source asks, and the types of the GraphQL schema that it
// holds, nil for none; nothing where there is no source.
func answersOf(source *os.Root) ([]sinkhole.Fit, *sinkhole.GraphQL) {
	if source == nil {
		return nil, nil
	}
	described, types := answers.Describe(source.FS())
	return append(answers.Read(source.FS()), described...), types
}

// routesOf are the routes that the source serves over HTTP; nothing where there is no source.
func routesOf(source *os.Root) []literals.Route {
	if source == nil {
		return nil
	}
	return literals.Routes(source.FS())
}
