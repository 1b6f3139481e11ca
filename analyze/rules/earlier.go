package rules

import (
	"maps"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Drifted is a declaration that is not as it was in an earlier run. Its Tool is the tool's
// name, "" for the server's instructions; its Text says both versions where they are known.
type Drifted struct {
	Fact
	Kind wire.ChangeKind
	// Members are those of the declaration that differ.
	Members []string
	// Difference is zero where the earlier declaration is known by its hashes alone.
	Difference
	// From names the earlier run or lock.
	From string
}

// Before is what a server did in an earlier run.
type Before struct {
	// From names that run.
	From string
	// Behaviours are what BehaviourOf names.
	Behaviours map[string]bool
}

// BehaviourOf names what a server did so that two runs can be compared in it: a host that it
// reached for, a program, a port that it opened. ok is false for other effects: which files
// are touched follows the inputs, and secrets have rules of their own.
func BehaviourOf(e *finding.Effect) (behaviour string, ok bool) {
	if e.Noise != "" {
		return "", false
	}
	switch e.Kind {
	case finding.NetConnect:
		if !leaving(e) {
			return "", false
		}
		host := e.Host
		if host == "" {
			host = peer(e)
		}
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		return "connects to " + strings.ToLower(strings.TrimSuffix(host, ".")), true
	case finding.Exec:
		return "runs " + path.Base(e.Target), true
	case finding.NetListen:
		return "listens on a port", true
	}
	return "", false
}

// Behaviours are the behaviours of a run, each once, in order. What an argument asked for is its
// caller's.
func Behaviours(effects []finding.Effect) []string {
	once := map[string]bool{}
	for i := range effects {
		e := &effects[i]
		if e.Explained != nil && e.Explained.Class == finding.ClassArgument {
			continue
		}
		if behaviour, ok := BehaviourOf(e); ok {
			once[behaviour] = true
		}
	}
	return slices.Sorted(maps.Keys(once))
}
