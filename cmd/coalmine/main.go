// Command coalmine runs an MCP server in a sandbox full of decoy secrets and
// says where what it did differs from what it declared.
package main

import (
	"os"

	"github.com/coalmine-dev/coalmine/cmd/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
