package policy

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

// schemaNode is the schema as a document of YAML, which keeps the order of members.
func schemaNode(t *testing.T) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(JSONSchema, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func member(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

func keys(n *yaml.Node) (out []string) {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value)
	}
	return out
}

// sections are the objects of the file in the order of the page, by the name of their definition.
var sections = []struct{ definition, title string }{
	{"", "The file"},
	{"entry", "An entry of `server` or `tools`"},
	{"lists", "The lists of `allow` and `deny`"},
	{"suppression", "An entry of `suppress`"},
	{"function", "An entry of `accept_unrun`"},
	{"gap", "An entry of `accept_gaps`"},
	{"defaults", "The flags of `defaults`"},
}

// page is docs/configuration.md.
func page(t *testing.T) []byte {
	root := schemaNode(t)
	var b bytes.Buffer
	b.WriteString("# Configuration reference\n\n" +
		"`coalmine.yaml` is a YAML file without aliases and merges. [Policy and baseline](policy.md) shows how to use it. `coalmine schema policy`\n" +
		"prints its JSON Schema, which an editor can check it against. `go test ./analyze/policy -run\n" +
		"TestConfigurationPage -update` writes this page from the schema.\n")
	for _, s := range sections {
		object := root
		if s.definition != "" {
			object = member(member(root, "$defs"), s.definition)
		}
		required := []string{}
		if r := member(object, "required"); r != nil {
			for _, n := range r.Content {
				required = append(required, n.Value)
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| member | meaning |\n|---|---|\n", s.title, text(member(object, "description")))
		properties := member(object, "properties")
		for _, name := range keys(properties) {
			needed := ""
			if slices.Contains(required, name) {
				needed = " Required."
			}
			fmt.Fprintf(&b, "| `%s` | %s%s |\n", name, text(member(member(properties, name), "description")), needed)
		}
	}
	b.WriteString("\n## Variables\n\n" +
		"`COALMINE_PROBE_` and the name of a flag in capitals sets the flag for `coalmine probe`: `COALMINE_PROBE_CALL_TIMEOUT=5s` is\n" +
		"`--call-timeout 5s`. It wins over `defaults`. No variable sets the flags that say what one run is about, such as `--config` or `--url`.\n")
	return b.Bytes()
}

func TestConfigurationPage(t *testing.T) {
	const name = "../../docs/configuration.md"
	want := page(t)
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/configuration.md is not what the schema says (-update writes it)")
	}
}

var knownMembers = regexp.MustCompile(`"unknown" is not one of (.*)`)

// What the parser knows is in its own words: it lists the members that it knows beside one that it does not.
func TestTheSchemaKnowsTheMembersOfTheParser(t *testing.T) {
	root := schemaNode(t)
	for definition, file := range map[string]string{
		"":            "unknown: 1",
		"entry":       "server: {unknown: 1}",
		"lists":       "tools: {x: {allow: {unknown: 1}}}",
		"suppression": "suppress: [{unknown: 1}]",
		"function":    "accept_unrun: [{unknown: 1}]",
		"gap":         "accept_gaps: [{unknown: 1}]",
		"defaults":    "defaults: {unknown: 1}",
	} {
		_, err := Parse(FileName, []byte(file))
		m := knownMembers.FindStringSubmatch(fmt.Sprint(err))
		if m == nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		object := root
		if definition != "" {
			object = member(member(root, "$defs"), definition)
		}
		schema, parser := keys(member(object, "properties")), strings.Split(m[1], ", ")
		slices.Sort(schema)
		slices.Sort(parser)
		if !slices.Equal(schema, parser) {
			t.Errorf("%s: the schema has %v, and the parser %v", definition, schema, parser)
		}
	}
}

// valid asks the schema about a file.
func valid(t *testing.T, file string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("policy.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal([]byte(file), &value); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value)
}

func TestTheSchemaAgreesWithTheParser(t *testing.T) {
	manual, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(manual), "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	for _, file := range []string{example, shown, "tools: {x: }", "environment: {A: '', B: 1, C: true}", "defaults: {vary: [clock, ci], jobs: 2}", "rules: [own.yaml, {id: X}]"} {
		if _, err := Parse(FileName, []byte(file)); err != nil {
			t.Errorf("the parser refuses %q: %v", file, err)
		}
		if err := valid(t, strings.ReplaceAll(file, "2027-01-31", `"2027-01-31"`)); err != nil {
			t.Errorf("the schema refuses %q: %v", file, err)
		}
	}
	for _, file := range []string{
		"unknown: 1", "schema: coalmine/policy/v2", "server: []", "tools: {x: {allow: {hosts: a}}}", "suppress: [{reason: x}]", `suppress: [{fingerprint: "12", reason: x, owner: y, expires: "2027-01-31"}]`,
		`accept_gaps: [{code: x, reason: y, expires: soon}]`, "environment: {HOME: /x}", "environment: {'A B': x}", "services: [Postgres]", "defaults: {config: x}", "rules: [own.txt]", "accept_opaque: x",
	} {
		if _, err := Parse(FileName, []byte(file)); err == nil {
			t.Errorf("the parser takes %q", file)
		}
		if valid(t, file) == nil {
			t.Errorf("the schema takes %q", file)
		}
	}
}
