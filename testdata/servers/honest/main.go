// Command honest is the twin that does what it declares: it formats a note.
package main

import (
	"log"
	"os"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

func main() {
	server := stdio.Notes(func(_ string, args map[string]any) (string, error) { return stdio.Format(args) })
	if err := server.Serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}
