package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/cli.md anew")

// root is the module's, from this directory.
const moduleRoot = "../../.."

// pages are README.md and all pages of docs, by their paths from the module's root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(name string) {
		data, err := os.ReadFile(filepath.Join(moduleRoot, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	add("README.md")
	err := fs.WalkDir(os.DirFS(moduleRoot), "docs", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(p) == ".md" {
			add(p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unnamed  = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	block    = regexp.MustCompile("(?s)```(?:sh|bash|console)?\n(.*?)```")
	span     = regexp.MustCompile("`(coalmine [^`]*)`")
	trailing = regexp.MustCompile(`\s+# .*$`)
)

// anchors are the fragments that a page's headings make.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		out = append(out, strings.ReplaceAll(unnamed.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}

// checkLink returns what is wrong with a link of a page.
func checkLink(all map[string]string, from, to string) error {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" {
		return err
	}
	name := from
	if u.Path != "" {
		name = path.Join(path.Dir(from), u.Path)
		if _, err := os.Stat(filepath.Join(moduleRoot, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	if page, ok := all[name]; ok && u.Fragment != "" && !slices.Contains(anchors(page), u.Fragment) {
		return fmt.Errorf("%s has no heading %s", name, u.Fragment)
	}
	return nil
}

// shownCommands are the command lines of coalmine that a page shows.
func shownCommands(page string) []string {
	var out []string
	for _, m := range block.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(strings.ReplaceAll(m[1], "\\\n", " ")) {
			line = trailing.ReplaceAllString(strings.TrimSpace(line), "")
			if _, run, ok := strings.Cut(line, "docker run "); ok {
				if _, inner, ok := strings.Cut(run, " coalmine probe "); ok {
					line = "coalmine probe " + inner
				}
			}
			if strings.HasPrefix(line, "coalmine ") {
				out = append(out, line)
			}
		}
	}
	for _, m := range span.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// checkCommand parses a command line with the flags of its command. Nothing runs.
func checkCommand(line string) error {
	words := strings.Fields(strings.NewReplacer("[", "", "]", "", "|", " ").Replace(line))[1:]
	if i := slices.Index(words, "--"); i >= 0 {
		words = words[:i]
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || strings.HasSuffix(words[0], ":") {
		return nil
	}
	e := &env{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	root := e.root()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil || !cmd.HasParent() {
		return errors.Join(err, fmt.Errorf("no command %s", words[0]))
	}
	cmd.InitDefaultHelpFlag()
	cmd.FParseErrWhitelist = cobra.FParseErrWhitelist{}
	// A span of prose may name a flag without its value.
	if n := len(rest); n > 0 && strings.HasPrefix(rest[n-1], "--") && !strings.Contains(rest[n-1], "=") {
		if cmd.Flags().Lookup(rest[n-1][2:]) == nil && cmd.InheritedFlags().Lookup(rest[n-1][2:]) == nil {
			return fmt.Errorf("no flag %s", rest[n-1])
		}
		rest = rest[:n-1]
	}
	return cmd.ParseFlags(rest)
}

// Links and shown commands of README.md and docs are right.
func TestDocs(t *testing.T) {
	all := pages(t)
	right, total := 0, 0
	check := func(page, what string, err error) {
		total++
		if err == nil {
			right++
			return
		}
		t.Errorf("%s: %s: %v", page, what, err)
	}
	for name, page := range all {
		prose := block.ReplaceAllString(page, "")
		for _, m := range pageLink.FindAllStringSubmatch(prose, -1) {
			check(name, m[1], checkLink(all, name, m[1]))
		}
		for _, line := range shownCommands(page) {
			check(name, line, checkCommand(line))
		}
	}
	if lines := strings.Count(all["README.md"], "\n"); lines > 150 {
		t.Errorf("README.md has %d lines", lines)
	}
	if total < 100 {
		t.Errorf("only %d links and commands were found", total)
	}
	t.Logf("docs: %d/%d", right, total)
}

func TestWrongCommandsAreFound(t *testing.T) {
	for _, line := range []string{"coalmine prove -- x", "coalmine probe --no-such -- x", "coalmine probe --calls x -- y", "coalmine audit --pdf"} {
		if checkCommand(line) == nil {
			t.Errorf("%s is taken for right", line)
		}
	}
	all := map[string]string{"docs/a.md": "# A b\n"}
	if checkLink(all, "docs/a.md", "none.md") == nil || checkLink(all, "docs/a.md", "#c") == nil || checkLink(all, "docs/a.md", "#a-b") != nil {
		t.Error("links are judged wrongly")
	}
}

// reference is docs/cli.md: every command with its flags.
func reference() []byte {
	var b bytes.Buffer
	b.WriteString("# Command reference\n\nThis page is made from the commands: `go test ./cmd/internal/cli -run TestReference -update` writes it.\n")
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.HasParent() && cmd.Name() != "help" && cmd.Name() != "completion" {
			fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```text\n%s\n```\n", strings.TrimSuffix(cmd.CommandPath(), " "), cmd.Short, cmd.UseLine())
			if long := cmd.Long; long != "" {
				fmt.Fprintf(&b, "\n%s\n", long)
			}
			if cmd.Example != "" {
				fmt.Fprintf(&b, "\n```text\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
			}
			rows := 0
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name == "help" {
					return
				}
				if rows == 0 {
					b.WriteString("\n| flag | meaning | default |\n|---|---|---|\n")
				}
				rows++
				value, usage := pflag.UnquoteUsage(f)
				preset := f.DefValue
				if preset != "" {
					preset = "`" + preset + "`"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+value), strings.ReplaceAll(usage, "|", `\|`), preset)
			})
		}
		for _, sub := range cmd.Commands() {
			each(sub)
		}
	}
	e := &env{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	each(e.root())
	return b.Bytes()
}

func TestReference(t *testing.T) {
	name, want := filepath.Join(moduleRoot, "docs", "cli.md"), reference()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/cli.md is not what the commands say (-update writes it)")
	}
}
