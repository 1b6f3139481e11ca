package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// policyFlags are what the command line says of policies, and what the runs made of one.
type policyFlags struct {
	file, emit string
	// accepted are the fingerprints that the policy suppressed in any run, and
	// doubt says that one of the runs was not complete.
	accepted []string
	doubt    bool
}

// readPolicy reads --policy. What has expired is an error before anything runs.
func (f *probeFlags) readPolicy(ctx context.Context) error {
	if f.policy.emit != "" {
		if _, err := os.Lstat(f.policy.emit); !errors.Is(err, fs.ErrNotExist) {
			return usage("name a new file", "--emit-policy: %s already exists", f.policy.emit)
		}
		f.Least = true
	}
	if f.policy.file == "" {
		return nil
	}
	data, ok, err := f.judgedBy(ctx, "policy", f.policy.file)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: policyHint}
	}
	if !ok {
		return nil
	}
	p, err := policy.Parse(f.policy.file, data)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: policyHint}
	}
	if expired := p.Expired(time.Now()); len(expired) > 0 {
		return &sandbox.UsageError{Err: errors.Join(expired...), Hint: "look at the finding again: mend what it shows, or give the suppression another day"}
	}
	f.Policy = p
	return nil
}

// policyHint is for an invalid policy.
const policyHint = "name a " + policy.FileName + "; --emit-policy writes one"

// readPolicy reads the policy that a flag names, nil for none.
func readPolicy(name string) (*policy.Policy, error) {
	if name == "" {
		return nil, nil
	}
	data, err := readBounded(name, maxConfig)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: policyHint}
	}
	p, err := policy.Parse(name, data)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: policyHint}
	}
	return p, nil
}

// threshold is the severity that --fail-on names, "" for never.
func threshold(flag string) (finding.Severity, error) {
	if flag == "never" {
		return "", nil
	}
	s, err := finding.ParseSeverity(flag)
	if err != nil {
		return "", usage("use critical, high, medium, low, info or never", "unknown --fail-on %s", flag)
	}
	return s, nil
}

// policed keeps what a run made of the policy, and writes the least one.
func (f *probeFlags) policed(res *analyze.Result, redactor *canaries.Redactor) error {
	f.policy.doubt = f.policy.doubt || len(res.Inconclusive) > 0
	if res.Policy != nil {
		for _, a := range res.Policy.Accepted {
			f.policy.accepted = append(append(f.policy.accepted, a.Fingerprint), a.PreviousFingerprints...)
		}
	}
	if f.policy.emit == "" || res.Least == nil {
		return nil
	}
	fh, err := os.OpenFile(f.policy.emit, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return &sandbox.UsageError{Err: fmt.Errorf("write the policy: %w", err), Hint: "name a file that is not there yet"}
	}
	_, err = fh.WriteString(redactor.Redact(string(res.Least.Marshal())))
	return errors.Join(err, fh.Close())
}

// stale tells of suppressions that no run needed, where every run was complete.
func (e *env) stale(f *probeFlags) int {
	if f.Policy == nil || f.policy.doubt {
		return ExitOK
	}
	status := ExitOK
	for _, err := range f.Policy.Unused(f.policy.accepted) {
		status = e.fail(usage("remove the suppression: it matches no finding", "%w", err))
	}
	return status
}

// readDummies joins the environment of the policy and --env, which goes before it.
func (f *probeFlags) readDummies() error {
	f.Dummies = map[string]string{}
	if f.Policy != nil {
		maps.Copy(f.Dummies, f.Policy.Environment)
	}
	for _, kv := range f.dummies {
		name, value, ok := strings.Cut(kv, "=")
		err := policy.CheckVariable(name)
		if err == nil && (!ok || strings.ContainsRune(value, 0)) {
			err = errors.New("it has no value")
		}
		if err != nil {
			return usage("use --env NAME=VALUE for values that are not secret, and --pass-env NAME for real secrets", "--env %s: %w", name[:min(len(name), 80)], err)
		}
		f.Dummies[name] = value
	}
	return nil
}
