package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/bundle"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// bundle packs evidence, and verifies it.
func (e *env) bundle() *cobra.Command {
	var out, sign string
	o := bundle.Options{Version: version()}
	cmd := &cobra.Command{
		Use: "bundle --out FILE LOG|DIR…", Short: "Pack session logs and run directories into an archive that others can verify",
		Long: "bundle writes an archive (tar.gz) with each file and a manifest of hashes. --sign signs the manifest with an Ed25519\n" +
			"key. --redact takes secrets and personal data out of each line, and keeps the hash of the original.\n" +
			"Without --redact, the archive holds all that the server said.",
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" || len(args) == 0 {
				return usage("coalmine bundle --out evidence.tar.gz coalmine-out/notes", "bundle needs --out FILE, and logs or directories")
			}
			if sign != "" {
				var err error
				if o.Key, err = readSigner(sign); err != nil {
					return err
				}
			}
			o.Created = time.Now()
			return e.pack(out, args, o)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&out, "out", "", "write the archive to this new `FILE`")
	fl.StringVar(&sign, "sign", "", "sign with the private key in this PEM `FILE`")
	fl.BoolVar(&o.Redact, "redact", false, "take secrets and personal data out")
	cmd.AddCommand(e.verifyBundle())
	return cmd
}

func (e *env) pack(out string, names []string, o bundle.Options) error {
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a new file with --out"}
	}
	m, err := bundle.Pack(f, names, o)
	if err = errors.Join(err, f.Close()); err != nil {
		return &sandbox.UsageError{Err: errors.Join(err, os.Remove(out)), Hint: "name session logs and run directories"}
	}
	how := ""
	if o.Redact {
		how = ", redacted"
	}
	if o.Key != nil {
		how += ", signed"
	}
	fmt.Fprintf(e.out, "%s packed into %s%s\n", plural(len(m.Files), "file"), report.Escape(out, 300), how)
	return nil
}
