package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/comment"
	"github.com/coalmine-dev/coalmine/sandbox"
)

func (e *env) comment() *cobra.Command {
	var name, head, author string
	cmd := &cobra.Command{
		Use: "comment [flags] SUMMARY…", Short: "Keep one comment on a pull request of GitHub",
		Long: "comment puts the files summary.md of probes into one comment on the pull request of the workflow that runs, and\n" +
			"updates that comment in later runs. It reads GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL and\n" +
			"GITHUB_EVENT_PATH. The token needs the permission pull-requests: write.",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := comment.FromEnvironment()
			if errors.Is(err, comment.ErrNoPullRequest) {
				fmt.Fprintln(e.err, "no comment: the workflow runs for no pull request")
				return nil
			}
			if err != nil {
				return &sandbox.UsageError{Err: err, Hint: "run it in a step of a workflow, with env: GITHUB_TOKEN"}
			}
			at.Author = author
			var parts []string
			for _, file := range args {
				data, err := readBounded(file, maxConfig)
				if err != nil {
					return &sandbox.UsageError{Err: err, Hint: "name the summary.md of a probe"}
				}
				parts = append(parts, string(data))
			}
			done, err := comment.Put(cmd.Context(), at, name, comment.Body(name, head, parts))
			if err != nil {
				return &sandbox.UsageError{Err: err, Hint: "give the job the permission pull-requests: write; a pull request from a fork never has it"}
			}
			fmt.Fprintf(e.out, "comment on pull request %d: %s\n", at.Number, report.Clean(done, 20))
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&name, "name", "coalmine", "the comment's `NAME`: each name has a comment of its own")
	fl.StringVar(&head, "head", "### coalmine", "the `TEXT` above the summaries")
	fl.StringVar(&author, "author", "github-actions[bot]", "update a comment of this `LOGIN` only")
	return cmd
}
