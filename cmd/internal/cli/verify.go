package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/attest"
	"github.com/coalmine-dev/coalmine/sandbox"
)

func (e *env) verify() *cobra.Command {
	var keys []string
	var digest, against string
	cmd := &cobra.Command{
		Use: "verify [flags] --key FILE ATTESTATION…", Short: "Check signed verdicts",
		Long: "verify checks that a trusted key signed each line of a file of coalmine attest, and that the verdict has not\n" +
			"expired. Exit status 1 says that one of them is refused.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(keys) == 0 {
				return usage("coalmine verify --key FILE.pub coalmine-verdicts/DIGEST.jsonl", "verify needs a --key and an ATTESTATION")
			}
			trusted, err := readKeys(keys, func(name string) ([]byte, error) { return readBounded(name, maxKey) })
			if err != nil {
				return err
			}
			for _, name := range args {
				if err := e.verifyFile(cmd.Context(), name, trusted, digest, against); err != nil {
					return err
				}
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&keys, "key", nil, "trust the public ed25519 keys in this `FILE` (can be given several times)")
	fl.StringVar(&digest, "digest", "", "accept attestations of the target with this `DIGEST` only (sha256:…)")
	fl.StringVar(&against, "report", "", "accept only an attestation of this report.json `FILE`")
	return cmd
}

// verifyFile prints a line for each attestation of a file.
func (e *env) verifyFile(ctx context.Context, name string, keys []*attest.Verifier, digest, against string) error {
	data, err := readBounded(name, maxConfig)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a file that coalmine attest wrote"}
	}
	sum := ""
	if against != "" {
		written, err := readBounded(against, maxReport)
		if err != nil {
			return &sandbox.UsageError{Err: err, Hint: "name the report.json of a run"}
		}
		sum = fmt.Sprintf("sha256:%x", sha256.Sum256(written))
	}
	n := 0
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		n++
		where := fmt.Sprintf("%s:%d: ", report.Escape(name, 300), n)
		s, err := attest.Open(ctx, line, keys)
		if err == nil {
			err = s.Lasts(time.Now())
		}
		switch {
		case err != nil:
		case digest != "" && s.Digest() != digest:
			err = fmt.Errorf("it is for another target, %s", s.Digest())
		case sum != "" && s.Predicate.Report != sum:
			err = fmt.Errorf("it is for another report, %.80s", s.Predicate.Report)
		}
		if err != nil {
			e.status = ExitFindings
			fmt.Fprintln(e.out, where+"refused: "+report.Escape(err.Error(), 400))
			continue
		}
		fmt.Fprintf(e.out, "%s%s %s %s by coalmine %s, until %s\n", where, s.Digest(), report.Clean(s.Subject[0].Name, 100), report.Clean(s.Predicate.Verdict, 20), report.Clean(s.Predicate.Coalmine.Version, 40), s.Predicate.Expires.Format(time.DateOnly))
	}
	if n == 0 {
		return usage("name a file that coalmine attest wrote", "%s holds no attestation", name)
	}
	return nil
}
