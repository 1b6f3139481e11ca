package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// own are the flags of coalmine probe that say what this one run is about. No variable sets them.
var own = []string{"config", "server", "url", "header-env", "call", "bin", "replay", "emit-policy", "dry-run", "help"}

// variableOf names the environment variable that sets a flag: COALMINE_PROBE_CALL_TIMEOUT for
// --call-timeout.
func variableOf(flag string) string {
	return "COALMINE_PROBE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that the command line does not give and a variable does.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := variableOf(f.Name)
		value, ok := os.LookupEnv(name)
		if err != nil || f.Changed || !ok || value == "" || slices.Contains(own, f.Name) {
			return
		}
		if set := flags.Set(f.Name, value); set != nil {
			err = usage("unset it, or give it a value that --"+f.Name+" takes", "the variable %s: %w", name, set)
		}
	})
	return err
}

// fromPolicy sets the flags that neither the command line nor the environment gives and the
// policy does.
func fromPolicy(flags *pflag.FlagSet, p *policy.Policy) error {
	if p == nil {
		return nil
	}
	for _, d := range p.Defaults {
		f := flags.Lookup(d.Flag)
		if f == nil || f.Changed {
			continue
		}
		list, isList := f.Value.(pflag.SliceValue)
		var err error
		switch {
		case isList:
			err = list.Replace(d.Values)
			f.Changed = true
		case len(d.Values) != 1:
			err = fmt.Errorf("it takes one value, got %d", len(d.Values))
		default:
			err = flags.Set(d.Flag, d.Values[0])
		}
		if err != nil {
			return &sandbox.UsageError{Err: fmt.Errorf("%s:%d: defaults, %s: %w", p.File, d.At.Line, d.Flag, err), Hint: "coalmine probe --help lists the values"}
		}
	}
	return nil
}
