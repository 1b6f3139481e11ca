package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// judgeFlags are the flags of coalmine judge as they were given.
type judgeFlags struct {
	policy, baseline, failOn string
	rules                    []string
	format                   []string
	allowIncomplete          bool
}

func (e *env) judge() *cobra.Command {
	f := &judgeFlags{}
	cmd := &cobra.Command{
		Use: "judge [flags] DIR…", Short: "Judge recorded runs again and rewrite their reports",
		Long: "judge reads the directory of a probe and rewrites its reports, without a sandbox, the server's source or the\n" +
			"network. It uses the policy, baseline and threshold of the probe unless flags name others, and prints on\n" +
			"standard error what they change.",
		RunE: func(_ *cobra.Command, args []string) error { return e.runJudge(f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.policy, "policy", "", "use this policy `FILE` (coalmine.yaml) instead of the probe's")
	fl.StringArrayVar(&f.rules, "rules", nil, rulesUsage)
	fl.StringVar(&f.baseline, "baseline", "", "use this baseline `FILE` instead of the probe's")
	fl.StringVar(&f.failOn, "fail-on", "", "exit 1 at this severity: critical, high, medium, low, info or never (default: the probe's)")
	fl.StringSliceVar(&f.format, "format", []string{"text"}, formatUsage)
	fl.BoolVar(&f.allowIncomplete, "allow-inconclusive", false, "exit 0 when the verdict is inconclusive")
	return cmd
}

const judgeHint = "name the directory of a probe, such as coalmine-out/NAME"

func (e *env) runJudge(f *judgeFlags, args []string) error {
	if len(args) == 0 {
		return usage("coalmine judge coalmine-out/NAME", "judge needs a DIR")
	}
	p, err := e.newPrinter(f.format, len(args) > 1)
	if err != nil {
		return err
	}
	changes, err := f.changes()
	if err != nil {
		return err
	}
	worst := ExitOK
	for _, dir := range args {
		status, err := e.judgeOne(f, p, dir, changes)
		if err != nil {
			if len(args) == 1 {
				return err
			}
			// One directory that cannot be judged must not hide the others.
			fmt.Fprintln(e.err, "in "+text.Printable(dir, 200)+":")
			status = e.fail(err)
		}
		worst = worse(worst, status)
	}
	e.status = worst
	return p.finish()
}

// changes are what the flags make of a run's inputs.
func (f *judgeFlags) changes() (func(*analyze.Inputs), error) {
	var policy, baseline *analyze.File
	for _, file := range []struct {
		name string
		to   **analyze.File
	}{{f.policy, &policy}, {f.baseline, &baseline}} {
		if file.name == "" {
			continue
		}
		data, err := readBounded(file.name, maxConfig)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name a file that can be read"}
		}
		*file.to = &analyze.File{Name: file.name, Text: string(data)}
	}
	policyRules, own, err := f.readRules(policy)
	if err != nil {
		return nil, err
	}
	failOn, err := threshold(f.failOn)
	if f.failOn != "" && err != nil {
		return nil, err
	}
	return func(in *analyze.Inputs) {
		if policy != nil {
			in.Policy, in.PolicyRules = policy, policyRules
		}
		if len(f.rules) > 0 {
			in.Rules = own
		}
		if baseline != nil {
			in.Baseline = baseline
		}
		if f.failOn != "" {
			in.FailOn = failOn
		}
	}, nil
}

// judgeOne judges one directory, writes and prints its reports, and returns the status.
func (e *env) judgeOne(f *judgeFlags, p *printer, name string, changes func(*analyze.Inputs)) (int, error) {
	dir, err := os.OpenRoot(name)
	if err != nil {
		return 0, &sandbox.UsageError{Err: err, Hint: judgeHint}
	}
	defer dir.Close()
	before := earlier(dir)
	res, in, err := analyze.Judge(dir, version(), changes)
	if err != nil {
		return 0, &sandbox.UsageError{Err: fmt.Errorf("%s: %w", name, err), Hint: judgeHint}
	}
	if err := report.Write(session.Output{Root: dir}, res, in); err != nil {
		return 0, &sandbox.UsageError{Err: err, Hint: "is the directory writable, and the disk not full?"}
	}
	if before != nil {
		for _, line := range analyze.Changes(before, res) {
			fmt.Fprintln(e.err, text.Printable(line, 400))
		}
	}
	if err := p.add(res, name, nil); err != nil {
		return 0, err
	}
	return analyze.ExitStatus(res, in.FailOn, f.allowIncomplete), nil
}

// earlier is the report that stands in a directory, nil where there is none that can be read.
func earlier(dir *os.Root) *analyze.Result {
	data, err := session.ReadFile(dir, report.FileJSON, maxReport)
	if err != nil {
		return nil
	}
	res := &analyze.Result{}
	if json.Unmarshal(data, res) != nil || res.Schema != analyze.Schema {
		return nil
	}
	return res
}
