package remote

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// drawn is an ordinary input of a tool: what a user might ask, never an attack.
func drawn(t *wire.Tool, seed int64) (json.RawMessage, error) {
	g, err := schema.New(t.InputSchema, schema.Options{Tool: t.Name, Description: t.Description, Object: true})
	if err != nil {
		return nil, err
	}
	return g.Draw(seed, schema.TypicalRequired)
}
