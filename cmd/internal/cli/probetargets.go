package cli

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// runs lists what is to be probed: the command, or a configuration's servers.
func (f *probeFlags) runs(args []string) ([]plan.Options, error) {
	if err := f.remote.check(); err != nil {
		return nil, err
	}
	if f.cwd != "" && f.remote.url != "" {
		return nil, usage("remove one of them", "--cwd and --url exclude each other")
	}
	if f.remote.url != "" {
		return f.remoteRun(args)
	}
	if given := f.remote.given(); given != "" && f.config == "" {
		return nil, usage("coalmine probe --url URL", "%s needs --url or --config", given)
	}
	if f.config == "" {
		return f.commandRun(args)
	}
	if len(args) > 0 {
		return nil, usage("remove one of them", "--config and a command exclude each other")
	}
	return f.configuredRuns()
}

// commandRun is the run of a command or package that the arguments name.
func (f *probeFlags) commandRun(args []string) (_ []plan.Options, err error) {
	if f.server != "" {
		return nil, usage("coalmine probe --config FILE --server NAME", "--server needs --config")
	}
	if len(args) == 0 {
		return nil, usage("coalmine probe -- COMMAND…", "probe needs a command, a package or --config")
	}
	if len(args) == 1 && (strings.HasPrefix(args[0], "https://") || strings.HasPrefix(args[0], "http://")) {
		return nil, usage("coalmine probe --url "+args[0], "%.200q is an address, not a command", args[0])
	}
	o := f.Options
	if o.Dir, err = f.start(nil, config.Context{}); err != nil {
		return nil, err
	}
	o, err = f.target(o, args, "")
	return []plan.Options{o}, err
}

// configuredRuns are the runs of the servers of a configuration. An entry that cannot be run is bad.
func (f *probeFlags) configuredRuns() ([]plan.Options, error) {
	servers, bad, err := readConfig(f.config)
	if err != nil {
		return nil, err
	}
	f.bad, f.entries = bad, servers
	if f.server != "" {
		s, err := config.FromArg(servers, f.server)
		if err != nil {
			return nil, &sandbox.UsageError{Err: err, Hint: "coalmine targets " + f.config + " lists them"}
		}
		servers, f.bad = []config.Server{s}, nil
	}
	var out []plan.Options
	taken := map[string]bool{} // the directories of the servers' files
	for _, s := range servers {
		s.Name = distinctName(s.Name, taken)
		taken[report.Slug(s.Name)] = true
		o, bad, err := f.configuredRun(s)
		switch {
		case err != nil:
			return nil, err
		case bad != nil:
			f.bad = append(f.bad, bad)
		default:
			out = append(out, o)
		}
	}
	return out, nil
}

// distinctName numbers a name whose directory is taken: two projects of one file may have a server
// of one name, and names in other scripts than the Latin one have one directory.
func distinctName(name string, taken map[string]bool) string {
	short := []rune(name)
	short = short[:min(len(short), 70)] // a directory's name is cut
	for n := 2; taken[report.Slug(name)]; n++ {
		name = fmt.Sprintf("%s (%d)", string(short), n)
	}
	return name
}

// configuredRun is the run of one entry. It is bad where the entry itself is at fault, and err
// ends the command.
func (f *probeFlags) configuredRun(s config.Server) (o plan.Options, bad, err error) {
	refer := references(f.config)
	s = s.Expanded(refer)
	o = f.Options
	o.Env, o.Name, o.Sandboxed = s.Env, s.Name, s.Sandbox
	o.Location = &finding.Location{Path: f.config, Line: s.Line, Column: s.Column}
	if len(s.Command) == 0 {
		o.Remote, bad = f.configured(&s)
		return o, bad, nil
	}
	o.Within = confines(f.config)
	if o.Dir, bad = f.start(&s, refer); bad != nil {
		return o, bad, nil
	}
	o, err = f.target(o, s.Command, f.config)
	return o, nil, err
}
