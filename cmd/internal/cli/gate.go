package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
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
		Short: "Proxy a server and block calls that its declarations or your policy forbid",
		Long: "gate is a tap that can block. A call passes when the newest complete tools/list declares the tool, the policy\n" +
			"and the lock allow it, and its arguments match the inputSchema. For other calls the gate returns a JSON-RPC\n" +
			"error with code -32000.",
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
	fl.StringVar(&f.policy, "policy", "", "allow only tools and arguments that this policy `FILE` (coalmine.yaml) allows")
	fl.StringVar(&f.lock, "lock", "", "allow only tools whose declaration matches this `FILE` from coalmine lock")
	fl.StringVar(&f.fail, "fail", "", "what happens to a call that the gate cannot check: open or closed (default closed with --policy or --lock, else open)")
	fl.DurationVar(&f.hold, "hold", gate.DefaultHold, "how long a call waits for tools/list")
	fl.BoolVar(&f.secrets, "stop-secrets", false, "block results that contain a key, a token or a private number")
	fl.StringVar(&f.canaries, "canaries", "", "block results that contain a decoy of the probe in `DIR`")
	fl.BoolVar(&f.unchecked, "no-schema", false, "do not validate arguments against the inputSchema")
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
		return nil, usage("use open or closed", "unknown --fail %s", f.fail)
	}
	if f.hold <= 0 {
		return nil, usage("use a duration such as 2s", "--hold must be positive")
	}
	var err error
	if o.Policy, err = readPolicy(f.policy); err != nil {
		return nil, err
	}
	if f.lock != "" {
		data, err := readBounded(f.lock, maxConfig)
		if err == nil {
			o.Lock, err = wire.ParseLock(data)
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
