package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/attest"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// attestFlags are the flags of coalmine attest as they were given.
type attestFlags struct {
	key, newKey, out string
	valid            time.Duration
}

const (
	defaultVerdicts = "coalmine-verdicts"
	defaultValid    = 14 * 24 * time.Hour
	maxKey          = 64 << 10
	keyHint         = "coalmine attest --new-key FILE makes a key, and FILE.pub beside it"
)

func (e *env) attest() *cobra.Command {
	f := &attestFlags{}
	cmd := &cobra.Command{
		Use: "attest [flags] --key FILE DIR…  |  attest --new-key FILE", Short: "Sign the verdicts of recorded runs",
		Long: "attest judges the run in each DIR again, rewrites its reports, and signs the verdict: an in-toto statement in a\n" +
			"DSSE envelope, in one file for each target. coalmine probe --verdicts takes a clean verdict in place of a run.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.newKey != "" {
				if len(args) > 0 || f.key != "" {
					return usage("coalmine attest --new-key FILE", "--new-key takes nothing beside it")
				}
				return e.newKey(f.newKey)
			}
			if f.key == "" || len(args) == 0 {
				return usage("coalmine attest --key FILE coalmine-out/NAME", "attest needs a --key and a DIR")
			}
			return e.runAttest(cmd.Context(), f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.key, "key", "", "sign with the ed25519 key in this `FILE`")
	fl.StringVar(&f.newKey, "new-key", "", "write a new private key to this new `FILE`, and the public one to FILE.pub")
	fl.StringVar(&f.out, "out", defaultVerdicts, "write the attestations below this `DIR`")
	fl.DurationVar(&f.valid, "valid", defaultValid, "how long a verdict holds after its run")
	return cmd
}

func (e *env) newKey(name string) error {
	private, public, err := attest.NewKey()
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
		mode os.FileMode
	}{{name, private, 0o600}, {name + ".pub", public, 0o644}} {
		to, err := os.OpenFile(file.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, file.mode)
		if err == nil {
			_, err = to.Write(file.data)
			err = errors.Join(err, to.Close())
		}
		if err != nil {
			return &sandbox.UsageError{Err: err, Hint: "name a new file in a directory that can be written"}
		}
	}
	fmt.Fprintf(e.out, "wrote %s, which signs, and %s, which verifies\n", report.Escape(name, 300), report.Escape(name+".pub", 300))
	return nil
}

func (e *env) runAttest(ctx context.Context, f *attestFlags, dirs []string) error {
	if f.valid <= 0 {
		return usage("such as --valid 336h", "--valid must be positive")
	}
	key, err := readSigner(f.key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a directory that can be written with --out"}
	}
	for _, dir := range dirs {
		s, line, err := attested(ctx, dir, key, f.valid)
		if err != nil {
			if len(dirs) == 1 {
				return &sandbox.UsageError{Err: fmt.Errorf("%s: %w", dir, err), Hint: judgeHint}
			}
			// One directory that has no verdict to sign must not hide the others.
			e.status = worse(e.status, e.fail(&sandbox.UsageError{Err: fmt.Errorf("%s: %w", dir, err), Hint: judgeHint}))
			continue
		}
		if err := replaceFile(filepath.Join(f.out, attest.FileName(s.Digest())), string(line), 0o644); err != nil {
			return &sandbox.UsageError{Err: err, Hint: "name a directory that can be written with --out"}
		}
		fmt.Fprintf(e.out, "%s %s %s, until %s\n", s.Digest(), report.Clean(s.Subject[0].Name, 100), s.Predicate.Verdict, s.Predicate.Expires.Format(time.DateOnly))
	}
	return nil
}

// attested judges a run again and signs what came of it.
func attested(ctx context.Context, name string, key *attest.Signer, valid time.Duration) (*attest.Statement, []byte, error) {
	dir, err := os.OpenRoot(name)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	id, err := plan.ReadContent(dir)
	if err != nil {
		return nil, nil, err
	}
	res, in, err := analyze.Judge(dir, version())
	if err != nil {
		return nil, nil, err
	}
	judgedBy, err := attest.JudgedBy(in)
	if err != nil {
		return nil, nil, err
	}
	if err := report.Write(session.Output{Root: dir}, res, in); err != nil {
		return nil, nil, err
	}
	written, err := session.ReadFile(dir, report.FileJSON, maxReport)
	if err != nil {
		return nil, nil, err
	}
	program, err := thisProgram()
	if err != nil {
		return nil, nil, err
	}
	found := map[string]int{}
	for _, x := range res.Findings {
		found[string(x.Severity)]++
	}
	s, err := attest.New(id, attest.Verdict{
		Coalmine: program, JudgedBy: judgedBy, Verdict: string(res.Verdict), Findings: found, Report: fmt.Sprintf("sha256:%x", sha256.Sum256(written)),
		Ran: res.Run.Started.UTC().Truncate(time.Second), Judged: time.Now().UTC().Truncate(time.Second), Expires: res.Run.Started.Add(valid).UTC().Truncate(time.Second),
	})
	if err != nil {
		return nil, nil, err
	}
	line, err := attest.Sign(ctx, s, key)
	return s, line, err
}

// thisProgram is the build that judges here.
func thisProgram() (attest.Program, error) {
	sum, err := programHash()
	return attest.Program{Version: version(), Digest: "sha256:" + sum}, err
}

// readSigner reads the file of a private key.
func readSigner(name string) (*attest.Signer, error) {
	text, err := readBounded(name, maxKey)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: keyHint}
	}
	key, err := attest.ParseSigner(text)
	if err != nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("%s: %w", name, err), Hint: keyHint}
	}
	return key, nil
}

// readKeys reads the files of trusted keys.
func readKeys(names []string, read func(name string) ([]byte, error)) ([]*attest.Verifier, error) {
	var out []*attest.Verifier
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: keyHint}
		}
		keys, err := attest.ParseVerifiers(text)
		if err != nil {
			return nil, &sandbox.UsageError{Err: fmt.Errorf("%s: %w", name, err), Hint: keyHint}
		}
		out = append(out, keys...)
	}
	return out, nil
}
