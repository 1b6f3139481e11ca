package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/cmd/internal/since"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The bounds on files of rules.
const (
	maxRuleFiles = 100
	maxRuleFile  = 1 << 20
)

// rulesHint is for an invalid file of rules.
const rulesHint = "docs/ledger.md has an example; coalmine rules test runs the examples of rules"

// rulesUsage says what --rules takes.
const rulesUsage = "use your own rules: a file, or a `DIR` of *.yaml files (docs/ledger.md has an example)"

// ruleSource reads the files of rules that are named. read reads one, which is open
// where it is called, name for messages; listed is what else of a directory there is to read.
type ruleSource struct {
	read   func(name string, open func() ([]byte, error)) (data []byte, ok bool, err error)
	listed func(dir string) ([]string, error)
}

// asTheyAre reads the files as they are now.
var asTheyAre = ruleSource{
	read: func(_ string, open func() ([]byte, error)) ([]byte, bool, error) {
		data, err := open()
		return data, err == nil, err
	},
	listed: func(string) ([]string, error) { return nil, nil },
}

// ruleSource is the source of a probe: under --changed-since the merge base's files hold.
func (f *probeFlags) ruleSource(ctx context.Context) ruleSource {
	return ruleSource{
		read: func(name string, open func() ([]byte, error)) ([]byte, bool, error) {
			return f.judgedByRead(ctx, "rule file", name, open)
		},
		listed: func(dir string) ([]string, error) {
			if f.base == nil {
				return nil, nil
			}
			names, err := f.base.Names(ctx, dir)
			if errors.Is(err, since.ErrOutside) {
				return nil, nil
			}
			return names, err
		},
	}
}

// ofPolicy reads the files that a policy names, below its directory and through no
// link.
func (s ruleSource) ofPolicy(p *policy.Policy) ([]analyze.File, error) {
	if p == nil {
		return nil, nil
	}
	dir := filepath.Dir(p.File)
	var out []analyze.File
	for _, it := range p.RuleFiles() {
		name := filepath.Join(dir, filepath.FromSlash(it.Text))
		data, ok, err := s.read(name, func() ([]byte, error) { return readBelow(dir, it.Text) })
		if err != nil {
			return nil, &policy.Error{File: p.File, At: it.At, What: fmt.Sprintf("rules: %v", err)}
		}
		if ok {
			out = append(out, analyze.File{Name: name, Text: string(data)})
		}
	}
	return out, bounded(out)
}

// named reads files, and of directories the *.yaml and *.yml files in their order.
func (s ruleSource) named(paths []string) ([]analyze.File, error) {
	var out []analyze.File
	for _, p := range paths {
		dir, names, err := s.names(p)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			name := filepath.Join(dir, n)
			data, ok, err := s.read(name, func() ([]byte, error) { return readBelow(dir, n) })
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, analyze.File{Name: name, Text: string(data)})
			}
		}
	}
	return out, bounded(out)
}

// names are the files of rules in a directory, or the one file that is named.
func (s ruleSource) names(p string) (dir string, names []string, err error) {
	was, err := s.listed(p)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(p)
	switch {
	case err == nil && info.IsDir():
		entries, err := os.ReadDir(p)
		if err != nil {
			return "", nil, err
		}
		for _, e := range entries {
			was = append(was, e.Name())
		}
	case len(was) > 0 && errors.Is(err, fs.ErrNotExist): // the change under review took the directory away
	default:
		return filepath.Dir(p), []string{filepath.Base(p)}, nil
	}
	was = slices.DeleteFunc(was, func(n string) bool {
		return strings.HasPrefix(n, ".") || filepath.Ext(n) != ".yaml" && filepath.Ext(n) != ".yml"
	})
	slices.Sort(was)
	if len(was) == 0 {
		return "", nil, fmt.Errorf("%s holds no *.yaml file", p)
	}
	return p, slices.Compact(was), nil
}

func bounded(files []analyze.File) error {
	if len(files) > maxRuleFiles {
		return fmt.Errorf("there are more than %d files of rules", maxRuleFiles)
	}
	return nil
}

// readBelow reads a regular file below a directory; a link is none.
func readBelow(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return session.ReadFile(root, filepath.FromSlash(name), maxRuleFile)
}

// proven compiles rules and holds them against their examples: a rule that its own
// examples refute is not used.
func proven(p *policy.Policy, files ...[]analyze.File) (*custom.Set, error) {
	set, err := custom.Compile(p, slices.Concat(files...))
	if err == nil {
		err = set.Failing()
	}
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: rulesHint}
	}
	return set, nil
}

// readRules reads the rules of the policy and of --rules.
func (f *probeFlags) readRules(ctx context.Context) (err error) {
	s := f.ruleSource(ctx)
	if f.PolicyRules, err = s.ofPolicy(f.Policy); err == nil {
		f.Rules, err = s.named(f.rules)
	}
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: rulesHint}
	}
	_, err = proven(f.Policy, f.PolicyRules, f.Rules)
	return err
}

// readRules reads the rules of a policy that takes the probe's place, and of --rules.
func (f *judgeFlags) readRules(file *analyze.File) (policyRules, own []analyze.File, err error) {
	var p *policy.Policy
	if file != nil {
		if p, err = policy.Parse(file.Name, []byte(file.Text)); err != nil {
			return nil, nil, &sandbox.UsageError{Err: err, Hint: policyHint}
		}
	}
	if policyRules, err = asTheyAre.ofPolicy(p); err == nil {
		own, err = asTheyAre.named(f.rules)
	}
	if err != nil {
		return nil, nil, &sandbox.UsageError{Err: err, Hint: rulesHint}
	}
	_, err = proven(p, policyRules, own)
	return policyRules, own, err
}
