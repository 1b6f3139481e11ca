// Package config reads the servers that MCP clients are configured to start:
// the files of Claude Desktop and Claude Code, Cursor, VS Code, Windsurf, Zed,
// Codex, Continue and goose, in JSON with comments, TOML and YAML.
//
// A configuration is hostile input like any other. The package must never
// execute, expand or fetch anything that it names, never let one bad entry
// hide the others, and never repeat the value of a variable in an error: real
// keys stand there.
package config
