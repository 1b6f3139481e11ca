package cli

import (
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// maxConfig bounds a configuration file.
const maxConfig = 16 << 20

// configHint is for an invalid file, or one without servers.
const configHint = "name an MCP client's configuration, such as .mcp.json or .vscode/mcp.json"

// readConfig reads a configuration's servers, and what is wrong with the entries that are none.
func readConfig(name string) (servers []config.Server, bad []error, err error) {
	data, err := readBounded(name, maxConfig)
	if err != nil {
		return nil, nil, &sandbox.UsageError{Err: err, Hint: configHint}
	}
	servers, bad = config.Parse(name, data)
	switch {
	case len(servers) == 0 && len(bad) > 0:
		return nil, nil, usage(configHint, "%s: %w", name, bad[0])
	case len(servers) == 0:
		return nil, nil, usage(configHint, "%s lists no server", name)
	}
	return servers, bad, nil
}

// badEntries tells of entries that could not be read; they are not looked at.
func (e *env) badEntries(bad []error) int {
	status := ExitOK
	for _, err := range bad {
		status = e.fail(usage("fix, rename or remove the entry", "%w", err))
	}
	return status
}
