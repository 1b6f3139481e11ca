package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// startFile is a file that coalmine init offers to write.
type startFile struct {
	name, about, text string
}

// startFiles are the files of a repository that probes its servers.
var startFiles = []startFile{
	{policy.FileName, "the policy: flags of coalmine probe, and what the servers may do", `# What coalmine may take for granted: coalmine probe --policy coalmine.yaml
# https://github.com/coalmine-dev/coalmine/blob/main/docs/policy.md
schema: ` + policy.Schema + `
defaults:
  budget: quick
  fail-on: high
`},
	{".github/workflows/coalmine.yml", "a workflow for GitHub Actions that probes the servers of .mcp.json", `# Replace COMMIT by a commit of coalmine: an action that is pinned pins the program too.
name: coalmine
on: [push, pull_request]
permissions: {contents: read}
jobs:
  probe:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 0 # a pull request is judged by the policy of its merge base
          persist-credentials: false
      - uses: coalmine-dev/coalmine@COMMIT
        with:
          config: .mcp.json
          policy: coalmine.yaml
          changed-since: ${{ github.event.pull_request.base.sha }}
`},
	{".pre-commit-config.yaml", "a hook for pre-commit that audits the source without running it", `repos:
  - repo: local
    hooks:
      - id: coalmine-audit
        name: coalmine audit
        entry: coalmine audit .
        language: system
        pass_filenames: false
`},
}

func (e *env) init() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "init", Short: "Write a policy, a workflow and a pre-commit hook for this repository", Args: exactArgs(0, "coalmine init"),
		Long: "init asks before it writes each file in the current directory, and never changes a file that is there.",
		RunE: func(*cobra.Command, []string) error {
			root, err := os.OpenRoot(".")
			if err != nil {
				return &sandbox.UsageError{Err: err}
			}
			defer root.Close()
			in := bufio.NewReader(e.in)
			for _, f := range startFiles {
				if err := e.offer(root, in, &f, yes); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "write all files without asking")
	return cmd
}

// offer writes one file where there is none and the user agrees. The end of the input is a no.
func (e *env) offer(root *os.Root, in *bufio.Reader, f *startFile, yes bool) error {
	switch _, err := root.Lstat(f.name); {
	case err == nil:
		fmt.Fprintf(e.out, "%s exists; coalmine leaves it as it is\n", f.name)
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return &sandbox.UsageError{Err: err, Hint: "remove the link, which may have come with the repository"}
	}
	if !yes {
		fmt.Fprintf(e.out, "Write %s (%s)? [y/N] ", f.name, f.about)
		answer, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			fmt.Fprintln(e.out, "not written")
			return nil
		}
	}
	if err := writeNew(root, f); err != nil {
		return &sandbox.UsageError{Err: err, Hint: "run coalmine init in a directory that can be written"}
	}
	fmt.Fprintf(e.out, "wrote %s\n", f.name)
	return nil
}

// writeNew writes a file that is not there. A link on the way that leads out of the directory is an error.
func writeNew(root *os.Root, f *startFile) (err error) {
	if dir := filepath.Dir(f.name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	file, err := root.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(f.text)
	return err
}
