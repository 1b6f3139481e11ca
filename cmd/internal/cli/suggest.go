package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// farthest is how many letters may differ between a word and what was meant by it.
const farthest = 2

// unknownCommand is the error of a command that there is not.
func unknownCommand(root *cobra.Command, name string) error {
	root.SuggestionsMinimumDistance = farthest
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return usage("did you mean coalmine "+strings.Join(near, " or coalmine ")+"?", "unknown command %s", name)
	}
	return usage("coalmine --help lists the commands", "unknown command %s", name)
}

// unknownFlag adds what may have been meant to pflag's error.
func unknownFlag(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists the flags"
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usage(hint, "%w", err)
	}
	// Cobra compares words with commands' names: each flag is made one.
	flags := &cobra.Command{SuggestionsMinimumDistance: farthest}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	if near := flags.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean --" + strings.Join(near, " or --") + "?"
	}
	return usage(hint, "%w", err)
}
