package run

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace/strace"
)

// header is what the log says of the run before anything happens in it.
func header(p *plan.Plan) session.Header {
	transport := p.Server.Transport
	if transport == plan.TransportStdio {
		transport = ""
	}
	return session.Header{
		RunID: p.RunID, Experiment: p.Experiment, Seed: p.Seed, Target: p.Target, Version: p.Version, Package: p.Package, Vary: p.Vary,
		Command: p.Server.Command, Unredacted: p.Unredacted, Dummies: p.Server.Dummies, MadeUp: p.Server.MadeUp, Transport: transport, Manifests: p.Server.Manifests, Runtime: p.Server.Interpreter,
		Sandbox: p.Sandbox.Backend, Tracer: p.Tracer, Network: p.Network, Services: p.Services, Unseen: unseen(p), AllowUserNS: p.Sandbox.AllowUserNS, Image: p.Sandbox.Image, ContainerRuntime: p.Sandbox.Runtime,
		Canaries: p.Decoys.Canaries(), User: p.Identity.User, Home: p.Identity.Home,
		ServerDir: p.Server.ServerDir, Workspaces: p.Server.Workspaces, Start: p.Server.Start, Rooted: p.Server.Rooted, Planted: planted(p), Documents: documents(p), Left: left(p), Literals: sourceTexts(p),
	}
}

// maxPlanted bounds the files that a log names as planted.
const maxPlanted = 4096

// planted are the files that stand below HOME and the workspaces, but for a
// package's own and what an earlier run left.
func planted(p *plan.Plan) []string {
	var out []string
	dirs := append([]string{p.Identity.Home}, p.Server.Workspaces...)
	for _, f := range p.Files[p.Placed : len(p.Files)-p.Left] {
		if !f.Dir && len(out) < maxPlanted && slices.ContainsFunc(dirs, func(dir string) bool {
			return strings.HasPrefix(f.Path, dir+"/")
		}) {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return out
}

// The bounds of what is told of documents: how many there are, and how long a file and its line are.
const (
	maxDocuments = 64
	maxDocument  = 64 << 10
	leastLine    = 16
	maxLine      = 120
)

// documents are the text files of the user's in directories of HOME that are neither hidden nor workspaces, each with its
// longest line.
func documents(p *plan.Plan) []session.Document {
	var out []session.Document
	for _, f := range p.Files[p.Placed : len(p.Files)-p.Left] {
		below, in := strings.CutPrefix(f.Path, p.Identity.Home+"/")
		if !in || f.Dir || len(out) >= maxDocuments || len(f.Data) > maxDocument || !utf8.Valid(f.Data) || !strings.Contains(below, "/") || strings.Contains("/"+below, "/.") ||
			slices.ContainsFunc(p.Server.Workspaces, func(dir string) bool { return strings.HasPrefix(f.Path, dir+"/") }) {
			continue
		}
		if line := longestLine(string(f.Data)); line != "" {
			out = append(out, session.Document{Path: f.Path, Line: line})
		}
	}
	return out
}

// longestLine is the longest line of a text that is told from chance and that no format escapes, "" for none.
func longestLine(text string) (best string) {
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n-*#>|")
		if len(line) > len(best) && len(line) >= leastLine && len(line) <= maxLine && !strings.ContainsFunc(line, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\\<>&'`, c) }) {
			best = line
		}
	}
	return best
}

// leastLiteral is the length of a text that the judge tells from chance.
const leastLiteral = 8

// sourceTexts are the texts of the source from which arguments are drawn, the short ones left out.
func sourceTexts(p *plan.Plan) []string {
	var out []string
	for _, text := range p.Drive.Hints.Literals.Texts {
		if len(text) >= leastLiteral {
			out = append(out, text)
		}
	}
	return out
}

// left are the files that an earlier run left.
func left(p *plan.Plan) []string {
	var out []string
	for _, f := range p.Files[len(p.Files)-p.Left:] {
		if !f.Dir && len(out) < maxPlanted {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unseen names the calls that are newer than the tracer, and those that the server may deny itself.
func unseen(p *plan.Plan) []string {
	var out []string
	if !p.Watched() || p.Straced() {
		out = append(out, fmt.Sprintf("system calls numbered above %d, which this strace does not know", strace.LastCall))
	}
	if p.Sandbox.AllowUserNS {
		out = append(out, "system calls that a filter of the server's own refuses: --allow-userns lets it make user namespaces and filters")
	}
	return out
}

// empty writes the log of a server that was never made, and why: what its build did is
// judged all the same.
func empty(p plan.Plan, dir *os.Root) error {
	log, err := session.Output{Root: dir, Redactor: p.Redactor}.Create(header(&p))
	if err == nil {
		log.Mark(session.Doubt(p.Drive.Why))
		err = log.Close()
	}
	if err != nil {
		return Unwritable(err)
	}
	return nil
}
