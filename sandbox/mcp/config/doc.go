// Package config reads the servers that MCP clients are configured to start:
// the files of Claude Desktop and Claude Code with its plugins, Cursor, VS Code, Windsurf,
// Zed, Codex, Continue, goose, opencode and others, the manifests of the MCP registry and
// of mcpb bundles, and the catalogues and compose files of Docker, in JSON with comments,
// TOML and YAML. It also reads the commands that clients run at their own events.
//
// A configuration is hostile input like any other. The package must never
// execute, expand or fetch anything that it names, never let one bad entry
// hide the others, and never repeat the value of a variable in an error: real
// keys stand there.
package config
