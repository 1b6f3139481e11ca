package cli

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/attest"
	"github.com/coalmine-dev/coalmine/cmd/internal/bundle"
	"github.com/coalmine-dev/coalmine/sandbox"
)

func (e *env) verifyBundle() *cobra.Command {
	var public string
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Compare a bundle with its manifest and its signature", Args: exactArgs(1, "coalmine bundle verify FILE"),
		Long: "verify reads the archive, compares each file with its hash, and checks the signature with --key. Nothing is unpacked.\n\n" +
			"Exit status: 0 when all agrees; 1 when something was changed or the signature is not that key's; 2 for no bundle.",
		RunE: func(_ *cobra.Command, args []string) error {
			var keys []*attest.Verifier
			if public != "" {
				var err error
				if keys, err = readKeys([]string{public}, func(name string) ([]byte, error) { return readBounded(name, maxKey) }); err != nil {
					return err
				}
			}
			f, err := os.Open(args[0])
			if err != nil {
				return &sandbox.UsageError{Err: err, Hint: "name a file of coalmine bundle"}
			}
			defer f.Close()
			v, err := bundle.Verify(f, keys)
			if err != nil {
				return usage("name a file of coalmine bundle", "%s: %w", args[0], err)
			}
			e.printVerified(v)
			return nil
		},
	}
	cmd.Flags().StringVar(&public, "key", "", "check the signature with the public key in this PEM `FILE`")
	return cmd
}

func (e *env) printVerified(v *bundle.Verified) {
	slices.Sort(v.Faults)
	for _, fault := range v.Faults {
		fmt.Fprintln(e.out, report.Escape(fault, 400))
	}
	if len(v.Faults) > 0 {
		e.status = ExitFindings
		fmt.Fprintf(e.out, "not intact: %s\n", plural(len(v.Faults), "fault"))
		return
	}
	signature := "unsigned: hashes show damage, not a forger"
	switch {
	case v.Trusted:
		signature = "signed by this key"
	case v.Signed:
		signature = "signed; --key checks the signer"
	}
	fmt.Fprintf(e.out, "intact: %s of %s; %s\n", plural(len(v.Manifest.Files), "file"), v.Manifest.Created.Format(time.RFC3339), signature)
}
