package answers

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// What is read of the descriptions of APIs in one tree.
const (
	maxListed    = 2_000   // files and directories that are looked at
	maxSniffed   = 300     // files whose beginning is read
	sniffed      = 4 << 10 // of each
	maxDocument  = 4 << 20
	maxYAML      = 1 << 20
	maxDocuments = 12
	maxTreeDepth = 8
	maxHops      = 32 // references that lead to references
)

// foreign are directories that hold other people's files.
var foreign = []string{"node_modules", "vendor", "__pycache__", "site-packages", "venv"}

// openAPI is what begins a description in OpenAPI or Swagger.
var openAPI = lazyregexp.New(`(?m)(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.`)

// introspected is what begins the answer to GraphQL's introspection query.
var introspected = lazyregexp.New(`^\s*\{\s*(?:"data"\s*:\s*\{\s*)?"__schema"\s*:`)

// Describe makes answers of the descriptions of APIs below the root of fsys: one for each operation
// that an OpenAPI document describes (2.0 to 3.1), and the types of a GraphQL schema, nil
// for none. References lead to files below the root only.
func Describe(fsys fs.FS) ([]sinkhole.Fit, *sinkhole.GraphQL) {
	t := newTree(fsys)
	var fits []sinkhole.Fit
	types, size, documents := newTypes(), 0, 0
	for _, name := range t.names {
		if documents >= maxDocuments {
			break
		}
		switch path.Ext(name) {
		case ".graphql", ".graphqls", ".gql":
			types.sdl(t.text(name))
			continue
		}
		switch begin := t.begin(name); {
		case introspected.Match(begin):
			documents++
			types.introspection(t.read(name, maxDocument))
		case openAPI.Match(begin):
			documents++
			fits = t.operations(name, fits, &size)
		}
	}
	return fits, types.done()
}

// tree are the files that a description may consist of.
type tree struct {
	fsys    fs.FS
	names   []string
	sniffed int
	left    int // bytes that may still be read
	parsed  map[string]any
}

func newTree(fsys fs.FS) *tree {
	t := &tree{fsys: fsys, left: 2 * maxDocument, parsed: map[string]any{}}
	listed := 0
	// A walk goes in lexical order, and its function never fails.
	_ = fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		if listed++; listed > maxListed {
			return fs.SkipAll
		}
		switch {
		case err != nil:
		case e.IsDir():
			if p != "." && (strings.HasPrefix(e.Name(), ".") || slices.Contains(foreign, e.Name()) || strings.Count(p, "/") >= maxTreeDepth) {
				return fs.SkipDir
			}
		case e.Type().IsRegular() && slices.Contains([]string{".json", ".yaml", ".yml", ".graphql", ".graphqls", ".gql"}, path.Ext(p)):
			t.names = append(t.names, p)
		}
		return nil
	})
	return t
}

// begin is the beginning of a file, nil where enough files were looked into.
func (t *tree) begin(name string) []byte {
	if t.sniffed++; t.sniffed > maxSniffed {
		return nil
	}
	raw, _ := readFile(t.fsys, name, sniffed)
	return raw
}

// read is a whole file, nil for one that is too large.
func (t *tree) read(name string, most int) []byte {
	raw, cut := readFile(t.fsys, name, min(most, t.left))
	if cut {
		return nil
	}
	t.left -= len(raw)
	return raw
}

func (t *tree) text(name string) string { return string(t.read(name, maxYAML)) }

// document is a parsed file, nil for what is none.
func (t *tree) document(name string) any {
	if v, ok := t.parsed[name]; ok {
		return v
	}
	var v any
	if path.Ext(name) == ".json" {
		if d := json.NewDecoder(bytes.NewReader(t.read(name, maxDocument))); d.Decode(&v) != nil {
			v = nil
		}
	} else {
		v = fromYAML(t.read(name, maxYAML))
	}
	absolute(v, name)
	t.parsed[name] = v
	return v
}

// fromYAML is a document of YAML in the types of JSON, nil for what is none.
func fromYAML(raw []byte) (v any) {
	defer func() {
		// A fault of the syntax library must not end a run.
		if recover() != nil {
			v = nil
		}
	}()
	var n yaml.Node
	if yaml.Unmarshal(raw, &n) != nil {
		return nil
	}
	left := 4 * maxYAML
	return plain(&n, 0, &left)
}

// plain is a node in the types of JSON. left bounds the nodes: an alias repeats what it names.
func plain(n *yaml.Node, depth int, left *int) any {
	if *left -= 16; *left < 0 || depth > 100 {
		return nil
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) > 0 {
			return plain(n.Content[0], depth+1, left)
		}
	case yaml.AliasNode:
		return plain(n.Alias, depth+1, left)
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			out = append(out, plain(c, depth+1, left))
		}
		return out
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = plain(n.Content[i+1], depth+1, left)
		}
		return out
	case yaml.ScalarNode:
		return scalarOf(n)
	}
	return nil
}

func scalarOf(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return f
		}
	}
	return n.Value
}

// absolute has every reference in v name its file by its path below the root, so that parts of several
// files can be read together.
func absolute(v any, file string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			absolute(e, file)
		}
	case map[string]any:
		for key, e := range v {
			ref, ok := e.(string)
			if key != "$ref" || !ok {
				absolute(e, file)
				continue
			}
			name, fragment, _ := strings.Cut(ref, "#")
			if unescaped, err := url.PathUnescape(name); err == nil && name != "" {
				name = path.Join(path.Dir(file), unescaped)
			} else {
				name = file
			}
			v[key] = name + "#" + fragment
		}
	}
}

// object is the value where it is one, references followed; nil where it is none.
func (t *tree) object(v any) map[string]any {
	for range maxHops {
		m, _ := v.(map[string]any)
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		v = t.follow(ref)
	}
	return nil
}

// follow is what an absolute reference names, nil where that is nothing of the tree.
func (t *tree) follow(ref string) any {
	file, fragment, _ := strings.Cut(ref, "#")
	if !slices.Contains(t.names, file) {
		return nil
	}
	v := t.document(file)
	for part := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		if part == "" {
			continue
		}
		if unescaped, err := url.PathUnescape(part); err == nil {
			part = unescaped
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch in := v.(type) {
		case map[string]any:
			v = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func readFile(fsys fs.FS, name string, most int) (raw []byte, cut bool) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // it was only read
	return readUpTo(f, most)
}
