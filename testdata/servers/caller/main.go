//go:build linux

// Command caller is an MCP server that declares that it goes out to the network,
// and does so in the way that a call's argument names: well, or so that whoever
// answers has a hard time of it. It is bounded in all that it does, and refuses
// to go out anywhere but in a sandbox.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/url"
	"os"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

const declaration = `{"name":"call","description":"Opens network connections to the given URL and sends requests there.",
"inputSchema":{"type":"object","properties":{"url":{"type":"string","format":"uri","description":"where to connect to"},
"how":{"type":"string","description":"how to send it"}},"required":["url"]},
"annotations":{"readOnlyHint":false,"destructiveHint":false,"openWorldHint":true}}`

// ways are what a call can do with the host and port of its URL.
var ways = map[string]func(u *url.URL) (string, error){
	"":              get,
	"get":           get,
	"half-close":    halfClose,
	"datagram":      datagram,
	"announce":      announce,
	"pin":           pin,
	"burst":         burst,
	"connections":   connections,
	"slow":          slow,
	"upload":        upload,
	"malformed-tls": malformedTLS,
	"dns-loop":      dnsLoop,
	"smuggle":       smuggle,
	"gzip-bomb":     gzipBomb,
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "hold" {
		hold(os.Args[2], os.Args[3])
		return
	}
	s := &stdio.Server{Name: "caller", Version: "1.0.0", Tools: []json.RawMessage{json.RawMessage(declaration)}, Call: call}
	if err := s.Serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func call(_ string, args map[string]any) (string, error) {
	if err := sandboxed(); err != nil {
		return "", err
	}
	text, _ := args["url"].(string)
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	how, _ := args["how"].(string)
	way := ways[how]
	if way == nil {
		return "", fmt.Errorf("no way is called %q", how)
	}
	return way(u)
}

// sandboxed says why this is no sandbox: in one every address is the machine's own, or
// there is no interface but the loopback.
func sandboxed() error {
	all, err := net.Interfaces()
	if err != nil {
		return err
	}
	if l, err := net.ListenPacket("udp4", "203.0.113.77:0"); err == nil {
		return l.Close()
	}
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("the network interface %s is up", i.Name)
		}
	}
	return nil
}
