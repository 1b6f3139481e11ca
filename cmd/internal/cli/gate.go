package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

// gateFlags are the flags of coalmine gate as they were given.
type gateFlags struct {
	wireFlags
	httpFlags
	policy, lock, fail, canaries string
	hold                         time.Duration
	secrets, unchecked           bool
}

func (e *env) gate() *cobra.Command {
	f := &gateFlags{}
	cmd := &cobra.Command{
		Use:   "gate [flags] -- COMMAND…  |  gate [flags] --http --url URL",
		Short: "Stand between a client and a server, and hold both to what was declared",
		Long: "gate is tap with a say: a call passes if the newest complete tools/list declares the tool, the policy and the\n" +
			"lock allow it, and its arguments are what the tool's schema declares. A call that does not pass is answered\n" +
			"with a JSON-RPC error of code -32000.",
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := f.gate()
			if err != nil {
				return err
			}
			return e.stand(cmd, &f.wireFlags, &f.httpFlags, args, "coalmine gate", g)
		},
	}
	f.wireFlags.add(cmd)
	f.httpFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.policy, "policy", "", "allow only the tools and arguments that this `FILE`, a coalmine.yaml, allows")
	fl.StringVar(&f.lock, "lock", "", "allow only tools that are declared as in this `FILE`, made by coalmine lock")
	fl.StringVar(&f.fail, "fail", "", "open or closed: what becomes of what cannot be checked (default closed with --policy or --lock, else open)")
	fl.DurationVar(&f.hold, "hold", gate.DefaultHold, "how long a call waits for the list of tools")
	fl.BoolVar(&f.secrets, "stop-secrets", false, "stop results that hold a key, a token or a number that is private")
	fl.StringVar(&f.canaries, "canaries", "", "stop results that hold a decoy of the probe whose files are in `DIR`")
	fl.BoolVar(&f.unchecked, "no-schema", false, "do not check arguments against the declared schemas")
	return cmd
}

// gate makes the gate that the flags ask for.
func (f *gateFlags) gate() (*gate.Gate, error) {
	o := gate.Options{Hold: f.hold, Closed: f.policy != "" || f.lock != ""}
	switch f.fail {
	case "":
	case "open", "closed":
		o.Closed = f.fail == "closed"
	default:
		return nil, usage("open or closed", "--fail %s is not known", f.fail)
	}
	if f.hold <= 0 {
		return nil, usage("a duration such as 2s", "--hold must be above zero")
	}
	var err error
	if o.Policy, err = readPolicy(f.policy); err != nil {
		return nil, err
	}
	if f.lock != "" {
		data, err := readBounded(f.lock, maxConfig)
		if err == nil {
			o.Lock, err = gate.ParseLock(data)
		}
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "coalmine lock --out " + f.lock + " -- COMMAND makes one"}
		}
	}
	if !f.unchecked {
		o.Validate = wiretap.Validator()
	}
	var scanners []func([]byte) []string
	if f.secrets {
		scanners = append(scanners, wiretap.Secrets())
	}
	if f.canaries != "" {
		scan, err := wiretap.Canaries(f.canaries)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "name the directory that coalmine probe wrote, such as coalmine-out/notes"}
		}
		scanners = append(scanners, scan)
	}
	o.Scan = wiretap.Scanners(scanners...)
	return gate.New(o), nil
}
