package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// Server is one configured server.
type Server struct {
	Name string
	// Command is the executable and its arguments, nil for a server that is
	// only reached by URL.
	Command []string
	// Env are the variables that the configuration sets or asks for. Their
	// values may be real secrets.
	Env map[string]string
	URL string
	// Dir is the working directory as the file has it, "" for the client's own. A relative
	// one starts from the client's workspace.
	Dir string
	// Headers are what the client sends to URL, as the file has them: with references to
	// variables, or real secrets.
	Headers map[string]string
	// Sandbox is what the configuration confines the server to (VS Code), nil for nothing.
	Sandbox *Sandbox
	// Disabled says that the configuration keeps the server from starting.
	Disabled bool
	// Kind and Package say what Command would fetch and run, if that is known.
	Kind    Kind
	Package string
	// Line and Column, in characters, are where the entry's name stands, both
	// counted from 1.
	Line, Column int
	// At are the places of what the entry says.
	At Places
	// Inputs are what the client asks its user for, as far as the entry refers to it, by
	// their names.
	Inputs map[string]Input
}

// Position is a line and a column in characters, both counted from 1. The zero value is
// for what does not stand in the file.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Places are the positions of an entry's parts.
type Places struct {
	Command, URL, Dir Position
	// Args has one position for each argument that the file spells out.
	Args []Position
	// Env has the position of each variable's name.
	Env map[string]Position
}

// Input is a value that a client asks its user for.
type Input struct {
	// Default is the value that is proposed, "" for none.
	Default string
	// Secret says that the client hides what is typed.
	Secret bool
}

// SameAs reports whether two entries say the same, wherever they stand.
func (s Server) SameAs(other Server) bool {
	s.Line, s.Column, s.At = other.Line, other.Column, other.At
	return reflect.DeepEqual(s, other)
}

// Sandbox is a client's own sandbox of a server. A nil list was not given.
type Sandbox struct {
	AllowWrite     []string `json:"allowWrite,omitempty"`
	AllowedDomains []string `json:"allowedDomains"`
}

// Error is a fault at a place of a configuration file.
type Error struct {
	Path         string
	Line, Column int
	What         string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Path, e.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.What)
}

// ErrNoServers says that a file has no place where a known client would look
// for servers.
var ErrNoServers = errors.New("no MCP servers are configured here")

// The bounds on a configuration file. Claude Code keeps its history in the
// same JSON file as its servers, so that format's is larger.
const (
	maxJSON   = 16 << 20
	maxOther  = 1 << 20
	maxDepth  = 200
	maxErrors = 100
	// maxServers bounds the servers of one file.
	maxServers = 20_000
)

// File is what a configuration file holds.
type File struct {
	Servers []Server
	Hooks   []Hook
	// Includes are files that a plugin names for its servers or its hooks.
	Includes []Include
	// Errs are entries that cannot be read, and faults of the file as a whole.
	Errs []error
}

// Include is a file that another one names in the place of what would stand there. Where
// the path leads is unknown.
type Include struct {
	Path string
	Position
}

// Parse reads the servers that the file names; path tells the format and is
// part of the errors. Entries that cannot be read are left out and named in
// the errors; the others are returned in the file's order all the same.
func Parse(path string, data []byte) (servers []Server, errs []error) {
	f := ParseFile(path, data)
	return f.Servers, f.Errs
}

// ParseFile is Parse that also reads the commands that a client runs at its own events.
func ParseFile(path string, data []byte) (f File) {
	p := &parser{path: path}
	defer func() {
		// A fault of a syntax library must not end a run over many files.
		if r := recover(); r != nil {
			p.fault(nil, "cannot be read: %v", r)
		}
		f = File{Servers: p.servers, Hooks: p.hooks, Includes: p.includes, Errs: p.errs()}
	}()
	data = p.decoded(data)
	root, format := p.read(data)
	p.text, p.root = data, root
	p.commands(root)
	p.extract(root, format)
	return f
}

// decoded is the text as UTF-8 without a byte order mark. UTF-16 is read and told of.
func (p *parser) decoded(data []byte) []byte {
	for _, c := range []struct {
		mark  string
		order unicode.Endianness
	}{{"\xff\xfe", unicode.LittleEndian}, {"\xfe\xff", unicode.BigEndian}} {
		if !bytes.HasPrefix(data, []byte(c.mark)) || len(data) > 2*maxJSON {
			continue
		}
		text, err := unicode.UTF16(c.order, unicode.ExpectBOM).NewDecoder().Bytes(data)
		if err != nil {
			break
		}
		p.fault(&position{line: 1, column: 1}, "is UTF-16, and clients read UTF-8: save it as UTF-8")
		return text
	}
	return bytes.TrimPrefix(data, []byte("\ufeff"))
}

// format is a configuration file's syntax.
type format int

const (
	formatJSON format = iota
	formatTOML
	formatYAML
)

// formatOf goes by the name's extension, else by the first bytes.
func formatOf(path string, data []byte) format {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonc", ".json5", ".code-workspace":
		return formatJSON
	case ".toml":
		return formatTOML
	case ".yaml", ".yml":
		return formatYAML
	}
	head := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("{")), bytes.HasPrefix(head, []byte("//")), bytes.HasPrefix(head, []byte("/*")):
		return formatJSON
	case bytes.HasPrefix(head, []byte("[")):
		return formatTOML
	}
	return formatYAML
}

// read parses the file into a tree, nil if there is none.
func (p *parser) read(data []byte) (*node, format) {
	f := formatOf(p.path, data)
	limit := maxOther
	if f == formatJSON {
		limit = maxJSON
	}
	p.text = data
	if len(data) > limit {
		p.fault(nil, "is too large for a configuration: %d bytes, at most %d are read", len(data), limit)
		return nil, f
	}
	switch f {
	case formatTOML:
		return p.readTOML(data), f
	case formatYAML:
		return p.readYAML(data), f
	}
	return p.readJSON(data), f
}

// FromArg selects the server that a user named; no name selects the only one.
func FromArg(servers []Server, name string) (Server, error) {
	if len(servers) == 0 {
		return Server{}, ErrNoServers
	}
	if name == "" && len(servers) == 1 {
		return servers[0], nil
	}
	// Clients take the last of several entries of one name.
	for i := len(servers) - 1; i >= 0 && name != ""; i-- {
		if servers[i].Name == name {
			return servers[i], nil
		}
	}
	var known []string
	for i, s := range servers {
		if i == 20 {
			known = append(known, fmt.Sprintf("and %d more", len(servers)-i))
			break
		}
		known = append(known, fmt.Sprintf("%q", s.Name))
	}
	if name == "" {
		return Server{}, fmt.Errorf("%d servers are configured, name one of them: %s", len(servers), strings.Join(known, ", "))
	}
	return Server{}, fmt.Errorf("no server %q is configured; there are: %s", name, strings.Join(known, ", "))
}
