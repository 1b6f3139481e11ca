package cli

import (
	"errors"
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
	marks, observe               bool
	repeats                      int
	ask                          string
	public                       bool
	askTime                      time.Duration
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
			o, err := f.options()
			if err != nil {
				return err
			}
			o.Observe, f.Named = f.observe, !f.public
			if f.ask != "" {
				asker, err := f.listen()
				if err != nil {
					return err
				}
				defer func() { _ = asker.Close() }() // the session is over
				o.Ask, o.Tell = asker.Ask, asker.Tell
			}
			return e.stand(cmd, &f.wireFlags, &f.httpFlags, args, "coalmine gate", gate.New(o))
		},
	}
	f.wireFlags.add(cmd)
	f.httpFlags.add(cmd)
	f.addChecks(cmd)
	fl := cmd.Flags()
	fl.DurationVar(&f.hold, "hold", gate.DefaultHold, "how long a call waits for tools/list")
	fl.StringVar(&f.ask, "ask", "", "hold a call that would be blocked and ask a person on this new unix `SOCKET` (coalmine answer)")
	fl.DurationVar(&f.askTime, "ask-time", wiretap.DefaultAnswerTime, "block a held call that nobody answers in this time")
	fl.BoolVar(&f.public, "public-surface", true, "with --http: let requests without a session id and credentials share one tools/list; =false blocks their calls")
	fl.BoolVar(&f.observe, "observe", false, "block nothing, and record in the log what would be blocked")
	return cmd
}

// listen opens the socket of --ask.
func (f *gateFlags) listen() (*wiretap.Asker, error) {
	if f.observe {
		return nil, usage("remove one of them", "--ask and --observe exclude each other")
	}
	if f.askTime <= 0 {
		return nil, usage("use a duration such as 30s", "--ask-time must be positive")
	}
	a, err := wiretap.ListenAsk(f.ask, f.askTime)
	return a, wrongUse(err)
}

// wrongUse makes a wiretap's error of use one of the command line.
func wrongUse(err error) error {
	var wrong *wiretap.UsageError
	if errors.As(err, &wrong) {
		return &sandbox.UsageError{Err: wrong, Hint: wrong.Hint}
	}
	return err
}

// addChecks adds the flags that say what passes.
func (f *gateFlags) addChecks(cmd *cobra.Command) {
	f.hold = gate.DefaultHold
	fl := cmd.Flags()
	fl.StringVar(&f.policy, "policy", "", "allow only tools and arguments that this policy `FILE` (coalmine.yaml) allows")
	fl.StringVar(&f.lock, "lock", "", "allow only tools whose declaration matches this `FILE` from coalmine lock")
	fl.StringVar(&f.fail, "fail", "", "what happens to a call that the gate cannot check: open or closed (default closed with --policy or --lock, else open)")
	fl.BoolVar(&f.secrets, "stop-secrets", false, "block calls and results that contain a key, a token or a private number")
	fl.BoolVar(&f.marks, "stop-prompts", false, "block calls whose arguments contain role markers of a prompt format, and remove them from resources")
	fl.IntVar(&f.repeats, "max-repeats", 0, "block a call that repeats more than `N` times within 5 seconds (default: no limit)")
	fl.StringVar(&f.canaries, "canaries", "", "block results that contain a decoy of the probe in `DIR`")
	fl.BoolVar(&f.unchecked, "no-schema", false, "do not validate arguments against the inputSchema")
}

// options are what the flags say of a gate.
func (f *gateFlags) options() (o gate.Options, err error) {
	o = gate.Options{Hold: f.hold, Closed: f.policy != "" || f.lock != "", StopArguments: f.secrets, StopMarks: f.marks, Repeats: f.repeats}
	switch f.fail {
	case "":
	case "open", "closed":
		o.Closed = f.fail == "closed"
	default:
		return o, usage("use open or closed", "unknown --fail %s", f.fail)
	}
	if f.hold <= 0 {
		return o, usage("use a duration such as 2s", "--hold must be positive")
	}
	if f.repeats < 0 {
		return o, usage("use a number such as 3", "--max-repeats must not be negative")
	}
	if o.Policy, err = readPolicy(f.policy); err != nil {
		return o, err
	}
	if f.lock != "" {
		data, err := readBounded(f.lock, maxConfig)
		if err == nil {
			o.Lock, err = wire.ParseLock(data)
		}
		if err != nil {
			return o, &sandbox.UsageError{Err: err, Hint: "coalmine lock --out " + f.lock + " -- COMMAND makes one"}
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
			return o, &sandbox.UsageError{Err: err, Hint: "name the directory that coalmine probe wrote, such as coalmine-out/notes"}
		}
		scanners = append(scanners, scan)
	}
	o.Scan = wiretap.Scanners(scanners...)
	return o, nil
}
