//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

func write(p []byte) { _, _ = os.Stdout.Write(p) }

func exitEarly(*stdio.Server) {
	fmt.Fprintln(os.Stderr, "worker: cannot read its configuration: key \"queue.url\" is missing")
	os.Exit(3)
}

func banner(*stdio.Server) {
	fmt.Println("worker 1.0.0")
	fmt.Println("Listening on stdio, press Ctrl-C to stop.")
	fmt.Println()
}

// rubbish is what a reader of lines must get over.
var rubbish = []string{
	"\x00\xff\xfe\x80 not text",
	`{"jsonrpc":"2.0",`,
	`]]]`, `"a string"`, `42`, `null`, `[]`, `{}`,
	`{"jsonrpc":"1.0","id":{},"result":3}`,
	`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"both"}}`,
	`{"a":1,"a":2}`,
	strings.Repeat("[", 20000),
	strings.Repeat(`{"a":`, 20000),
}

// garbage writes rubbish before each answer, and no answer to the first call.
func garbage(s *stdio.Server) {
	first := true
	s.Write = func(method string, line []byte) {
		write([]byte(strings.Join(rubbish, "\n") + "\n"))
		if method == "tools/call" && first {
			first = false
			return
		}
		write(line)
	}
}

// halfLine ends in the middle of its answer to a call.
func halfLine(s *stdio.Server) {
	s.Write = func(method string, line []byte) {
		if method != "tools/call" {
			write(line)
			return
		}
		write(line[:len(line)/2])
		os.Exit(0)
	}
}

const (
	hugeMark = "@@HERE@@"
	hugeSize = 100 << 20
)

// hugeLine answers a call by a line of a hundred megabytes.
func hugeLine(s *stdio.Server) {
	s.Call = func(string, map[string]any) (string, error) { return hugeMark, nil }
	s.Write = func(_ string, line []byte) {
		head, rest, found := bytes.Cut(line, []byte(hugeMark))
		write(head)
		if found {
			chunk := bytes.Repeat([]byte("A"), 1<<20)
			for range hugeSize / len(chunk) {
				write(chunk)
			}
		}
		write(rest)
	}
}

// unknownID answers a request that nobody made, then the one that was.
func unknownID(s *stdio.Server) {
	s.Write = func(_ string, line []byte) {
		var message map[string]json.RawMessage
		if json.Unmarshal(line, &message) == nil {
			message["id"] = json.RawMessage("987654321")
			other, _ := json.Marshal(message)
			write(append(other, '\n'))
		}
		write(line)
	}
}

func sameIDTwice(s *stdio.Server) {
	s.Write = func(_ string, line []byte) { write(line); write(line) }
}

// mute answers nothing any more after it has answered the named method.
func mute(last string) func(*stdio.Server) {
	return func(s *stdio.Server) {
		quiet := last == ""
		s.Write = func(method string, line []byte) {
			if !quiet {
				write(line)
			}
			quiet = quiet || method == last
		}
	}
}

func manyTools(s *stdio.Server) {
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprintf("work_%04d", i))
	}
	s.Tools, s.Page = tools(names...), 500
}

// cyclicRef declares one schema that no finite value satisfies, and one that is itself.
func cyclicRef(s *stdio.Server) {
	node := map[string]any{
		"type": "object", "required": []string{"next"},
		"properties": map[string]any{"next": map[string]any{"$ref": "#/$defs/node"}},
	}
	s.Tools = []json.RawMessage{
		tool(map[string]any{"name": "endless", "description": "Takes a list.", "inputSchema": map[string]any{
			"type": "object", "$ref": "#/$defs/node", "$defs": map[string]any{"node": node},
		}}),
		tool(map[string]any{"name": "itself", "description": "Takes a tree.", "inputSchema": map[string]any{
			"type": "object", "properties": map[string]any{"child": map[string]any{"$ref": "#"}},
		}}),
		tool(map[string]any{"name": "loop", "description": "Takes anything.", "inputSchema": map[string]any{
			"type": "object", "$ref": "#/$defs/a", "$defs": map[string]any{
				"a": map[string]any{"$ref": "#/$defs/b"}, "b": map[string]any{"$ref": "#/$defs/a"},
			},
		}}),
	}
}

// evil is text that every medium has to escape: a terminal, a workflow's log,
// HTML, Markdown; and text that is not what it looks like.
const evil = "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c \u200b\U000e0041\U000e0042 \r\n::set-output name=a::b\n::error file=x::y\n##[error]z\n" +
	"<script>alert(1)</script> ![i](http://192.0.2.1/x) `|` [l](javascript:alert(1)) \u009b2J"

func evilNames(s *stdio.Server) {
	s.Name = "worker " + evil
	s.Tools = []json.RawMessage{tool(map[string]any{
		"name": "work" + evil, "title": "Work " + evil, "description": "Does work. " + evil,
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{
			"p" + evil: map[string]any{"type": "string", "description": evil},
		}},
		"annotations": map[string]any{"title": evil},
	})}
	s.Call = func(string, map[string]any) (string, error) { return evil, nil }
}

func getEnv(s *stdio.Server) {
	s.Tools = []json.RawMessage{tool(map[string]any{
		"name": "get-env", "description": "Returns all environment variables, helpful for debugging the server's configuration",
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{}},
	})}
	s.Call = func(string, map[string]any) (string, error) { return strings.Join(os.Environ(), "\n"), nil }
}
