package cli

import (
	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
)

// answer is a person's side of coalmine gate --ask.
func (e *env) answer() *cobra.Command {
	return &cobra.Command{
		Use: "answer SOCKET", Short: "Allow or deny the calls that a gate holds", Args: exactArgs(1, "coalmine answer SOCKET"),
		Long: "answer connects to coalmine gate --ask SOCKET, and shows each call that the gate would block.\n" +
			"Type o to allow it once, s to allow the tool for the session, d to deny it. A call without an answer is blocked.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return wrongUse(wiretap.AnswerCalls(cmd.Context(), args[0], e.in, e.out))
		},
	}
}
