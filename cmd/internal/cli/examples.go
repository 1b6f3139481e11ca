package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are lines to copy, by command.
var examples = map[string][]string{
	"probe": {
		"coalmine probe -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 .",
		"coalmine probe pypi:mcp-server-git==2026.8.31 -- --repository .",
		"coalmine probe --config .mcp.json --changed-since origin/main --format sarif=coalmine.sarif",
		"coalmine probe --policy coalmine.yaml --emit-policy least.yaml -- node server.js",
	},
	"audit": {
		"coalmine audit .",
		"coalmine audit npm:@modelcontextprotocol/server-everything@2026.8.31 --online",
	},
	"targets":          {"coalmine targets", "coalmine targets --home --format json"},
	"tap":              {"coalmine tap -- node server.js", "coalmine tap --http --url http://localhost:3000/mcp"},
	"gate":             {"coalmine gate --policy coalmine.yaml -- node server.js", "coalmine gate --observe -- node server.js"},
	"detect":           {"coalmine detect session.jsonl", "coalmine detect --format sarif session.jsonl"},
	"judge":            {"coalmine judge coalmine-out/server", "coalmine judge --policy coalmine.yaml coalmine-out/server"},
	"replay-decisions": {"coalmine replay-decisions --policy coalmine.yaml session.jsonl"},
	"lock":             {"coalmine lock -- node server.js"},
	"sweep":            {"coalmine sweep --registry targets.txt --store sweeps", "coalmine sweep --registry npm:mcp-server --filter postgres --shard 1/4"},
	"doctor":           {"coalmine doctor --prove"},
	"spy":              {"coalmine spy --comm node", "coalmine spy --out logs --detect"},
	"tui":              {"coalmine tui coalmine-out"},
	"summarize":        {"coalmine summarize session.jsonl"},
	"watch":            {"coalmine watch logs"},
}

// exemplify gives each command its examples.
func exemplify(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if lines := examples[cmd.Name()]; len(lines) > 0 {
			cmd.Example = "  " + strings.Join(lines, "\n  ")
		}
	}
}
