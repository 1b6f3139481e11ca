package rules

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Difference says in what a tool's later declaration differs from the first.
type Difference struct {
	// Values says that only values differ that an argument may have: the enum, the
	// default and the examples of a schema follow a server's own data.
	Values bool
	// More says in words what the later declaration allows itself, or takes, that the
	// first did not, "" for nothing. A tool that has no earlier one is compared with none.
	More string
	// Added is a sentence that a prompt says beside all that it said at first, "" for none.
	Added string
}

// DifferenceOf compares two declarations of a tool; was is nil for one that appeared, and now for
// one that is gone.
func DifferenceOf(was, now *wire.Tool) Difference {
	if now == nil {
		return Difference{}
	}
	t := scope.OfTool(now)
	if was == nil {
		return Difference{More: grave(&t)}
	}
	d := Difference{Values: string(plainDeclaration(was)) == string(plainDeclaration(now))}
	if old := scope.OfTool(was); !d.Values {
		d.More = more(&old, &t)
	}
	return d
}

// gravest is what grave says of tools that run what they are given.
const gravest = "runs commands or code"

// grave says what a tool does that a user would want to be asked about.
func grave(t *scope.Tool) string {
	switch {
	case len(t.Commands) > 0 || len(t.Shell) > 0 || len(t.Code) > 0:
		return gravest
	case !t.ClaimsHarmless() && len(t.Delete) > 0:
		return "may delete or replace"
	case !t.ClaimsReadOnly() && len(t.Write) > 0:
		return "may change something"
	}
	return ""
}

// more says what a later declaration allows itself that an earlier one ruled out or did not take.
func more(old, now *scope.Tool) string {
	switch {
	case old.ClaimsReadOnly() && !now.ClaimsReadOnly():
		return "it is no longer read-only"
	case old.ClaimsHarmless() && !now.ClaimsHarmless():
		return "it may now delete or overwrite"
	case old.ClaimsLocal() && !now.ClaimsLocal():
		return "it may now reach the network"
	case len(now.Commands) > len(old.Commands) || len(now.Shell) > len(old.Shell) || len(now.Code) > len(old.Code):
		return "it now runs commands or code"
	}
	return ""
}

// maxDepth bounds how deep a schema is compared.
const maxDepth = 32

// plainDeclaration is a declaration without the values that its arguments may have.
func plainDeclaration(t *wire.Tool) []byte {
	var v any
	if json.Unmarshal(t.Raw, &v) != nil {
		return t.Raw
	}
	out, err := json.Marshal(withoutValues(v, 0))
	if err != nil {
		return t.Raw
	}
	return out
}

func withoutValues(v any, depth int) any {
	if depth > maxDepth {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			_, list := member.([]any)
			switch _, isSchema := member.(map[string]any); {
			case !isSchema && (name == "enum" && list || name == "examples" && list || name == "default" || name == "maxItems" || name == "maximum"):
			default:
				out[name] = withoutValues(member, depth+1)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutValues(v[i], depth+1)
		}
		return out
	}
	return v
}
