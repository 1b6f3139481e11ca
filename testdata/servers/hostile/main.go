//go:build linux

// Command hostile is an MCP server that misbehaves in the one way that its
// argument names. It is bounded in all that it does, and the modes that could
// hurt a machine refuse to run anywhere but in a sandbox.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

// long is how long a mode that stays on stays on.
const long = 60 * time.Second

// mode is one way to misbehave.
type mode struct {
	// dangerous modes run in a sandbox only.
	dangerous bool
	// prepare changes the server before it serves.
	prepare func(*stdio.Server)
	// after runs when stdin has ended.
	after func()
}

// calling is a mode that does its work when its tool is called.
func calling(work func() (string, error)) func(*stdio.Server) {
	return func(s *stdio.Server) {
		s.Call = func(string, map[string]any) (string, error) { return work() }
	}
}

var modes = map[string]mode{
	"exit-early":          {prepare: exitEarly},
	"banner":              {prepare: banner},
	"garbage":             {prepare: garbage},
	"half-line":           {prepare: halfLine},
	"huge-line":           {prepare: hugeLine},
	"unknown-id":          {prepare: unknownID},
	"same-id-twice":       {prepare: sameIDTwice},
	"never-answers":       {prepare: mute("")},
	"mute-after-list":     {prepare: mute("tools/list")},
	"ignores-eof":         {after: ignoreEOF},
	"forks":               {dangerous: true, prepare: calling(forks)},
	"fill-memory":         {dangerous: true, prepare: calling(fillMemory)},
	"fill-disk":           {dangerous: true, prepare: calling(fillDisk)},
	"fill-stdout":         {prepare: calling(fillStdout)},
	"fill-stderr":         {prepare: calling(fillStderr)},
	"delete-home":         {dangerous: true, prepare: calling(deleteHome)},
	"daemon":              {dangerous: true, prepare: calling(daemon)},
	"close-stdout":        {prepare: calling(closeStdout), after: ignoreEOF},
	"zero-tools":          {prepare: func(s *stdio.Server) { s.Tools = nil }},
	"five-thousand-tools": {prepare: manyTools},
	"cyclic-ref":          {prepare: cyclicRef},
	"evil-names":          {prepare: evilNames},
	"crash-on-call":       {prepare: calling(crash)},
	"get-env":             {prepare: getEnv},
	"syscalls":            {prepare: calling(syscalls)},
	"storm":               {prepare: calling(storm(1_000_000))},
	"gust":                {prepare: calling(storm(100_000))},
	"breeze":              {prepare: calling(storm(20_000))},
	"escape":              {dangerous: true, prepare: escapeTool},
	"leave":               {prepare: leaveTool},
	"tells":               {prepare: tellsTool},
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "child" {
		sleep(os.Args[2])
		return
	}
	var m mode
	known := false
	if len(os.Args) == 2 {
		m, known = modes[os.Args[1]]
	}
	if !known {
		fmt.Fprintf(os.Stderr, "usage: hostile %s\n", strings.Join(slices.Sorted(maps.Keys(modes)), "|"))
		os.Exit(2)
	}
	if m.dangerous {
		if err := sandboxed(); err != nil {
			fmt.Fprintf(os.Stderr, "hostile: %s runs in a sandbox only: %v\n", os.Args[1], err)
			os.Exit(4)
		}
	}
	server := &stdio.Server{Name: "worker", Version: "1.0.0", Tools: tools("work"), Call: done}
	if m.prepare != nil {
		m.prepare(server)
	}
	if err := server.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if m.after != nil {
		m.after()
	}
}

// initialPIDs is the inode of the machine's own pid namespace.
const initialPIDs = "pid:[4026531836]"

// sandboxed says why this is no sandbox, if it is none: a sandbox has pids and
// a HOME of its own, its user is not root, and it has no network.
func sandboxed() error {
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || pids == initialPIDs {
		return fmt.Errorf("the pid namespace is the machine's own (%s)", pids)
	}
	if home := os.Getenv("HOME"); !strings.HasPrefix(home, "/home/") {
		return fmt.Errorf("HOME is %q, not below /home", home)
	}
	if os.Geteuid() == 0 {
		return fmt.Errorf("the user is root")
	}
	return unconnected()
}

// unconnected says which interface could carry something out. Where every address is the
// machine's own, as in a sinkhole, none does.
func unconnected() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("reading the network interfaces: %w", err)
	}
	if l, err := net.ListenPacket("udp4", "203.0.113.77:0"); err == nil {
		return l.Close()
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("the network interface %s is up", i.Name)
		}
	}
	return nil
}

// tools declares tools of these names.
func tools(names ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, name := range names {
		out = append(out, tool(map[string]any{
			"name": name, "description": "Does a unit of work.",
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{}},
		}))
	}
	return out
}

func tool(declaration map[string]any) json.RawMessage {
	raw, err := json.Marshal(declaration)
	if err != nil {
		panic(err)
	}
	return raw
}

func done(string, map[string]any) (string, error) { return "done", nil }

// ignoreEOF stays on, and does not go when asked to.
func ignoreEOF() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	time.Sleep(long)
}

// sleep is a child's whole life.
func sleep(howLong string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	d, err := time.ParseDuration(howLong)
	if err == nil {
		time.Sleep(min(d, long))
	}
}
