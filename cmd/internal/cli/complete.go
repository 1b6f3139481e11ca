package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// severities are what --fail-on knows.
var severities = []string{"critical", "high", "medium", "low", "info", "never"}

// flagValues are the values of flags that know a few, wherever a command has the flag.
var flagValues = map[string][]string{
	"sandbox":   {"auto", "docker", "local", "inplace"},
	"tracer":    {"auto", "ebpf", "strace", "both", "none"},
	"network":   {plan.NetworkSinkhole, plan.NetworkLoopback, plan.NetworkRefuse, plan.NetworkNone, "allow="},
	"transport": {plan.TransportAuto, plan.TransportStdio, plan.TransportHTTP, plan.TransportSSE},
	"budget":    {plan.BudgetQuick, plan.BudgetNightly},
	"vary":      experiment.Factors(),
	"fail-on":   severities,
}

// completes tells a shell the values of the flags of a command and of those below it.
func completes(cmd *cobra.Command) {
	for name, values := range flagValues {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		// It fails for a flag that has its values already.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	switch cmd.Name() {
	case "probe":
		_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(slices.Clone(formats), cobra.ShellCompDirectiveNoFileComp))
	case "audit":
		_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(slices.Clone(auditFormats), cobra.ShellCompDirectiveNoFileComp))
	case "rules":
		cmd.ValidArgsFunction = ruleIDs
	}
	for _, below := range cmd.Commands() {
		completes(below)
	}
}

// ruleIDs completes the one argument of coalmine rules.
func ruleIDs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, r := range report.Rules() {
		ids = append(ids, r.ID+"\t"+r.Title)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
