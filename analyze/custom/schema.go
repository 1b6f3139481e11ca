package custom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/common/types"
)

// documented are the objects of the ledger, in the order of the documentation.
var documented = []struct {
	t     reflect.Type
	title string
}{
	{reflect.TypeFor[Effect](), "One thing that the server did. Equal occurrences in one call are one."},
	{reflect.TypeFor[Claim](), "One thing that a tool or the server declares."},
	{reflect.TypeFor[Call](), "One call of a tool, resource or prompt."},
	{reflect.TypeFor[Finding](), "What one of coalmine's own rules found in the run or in the source. Your own rules are not in it."},
	{reflect.TypeFor[Explanation](), "Why an effect is no surprise."},
	{reflect.TypeFor[Tool](), "All that one tool declares."},
}

// ordered is a JSON object whose members keep their order.
type ordered []struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", m.key, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o *ordered) add(key string, value any) {
	*o = append(*o, struct {
		key   string
		value any
	}{key, value})
}

// LedgerSchema is the JSON Schema (draft 2020-12) of the ledger, and of the examples in a
// file of rules, which may leave members out.
func LedgerSchema() ([]byte, error) {
	var doc, defs ordered
	doc.add("$schema", "https://json-schema.org/draft/2020-12/schema")
	doc.add("$id", "https://github.com/coalmine-dev/coalmine/ledger/v1")
	doc.add("title", Schema)
	doc.add("description", "What a server did and said, entry by entry, as your own rules see it. Within v1 members are only added.")
	doc = append(doc, jsonObject(typesOf()[reflect.TypeFor[Ledger]()])...)
	for _, d := range documented {
		var o ordered
		o.add("description", d.title)
		t := typesOf()[d.t]
		defs.add(strings.ToLower(t.name), append(o, jsonObject(t)...))
	}
	doc.add("$defs", defs)
	var b bytes.Buffer
	raw, err := json.Marshal(doc)
	if err == nil {
		err = json.Indent(&b, raw, "", "  ")
	}
	b.WriteByte('\n')
	return b.Bytes(), err
}

func jsonObject(t *objectType) ordered {
	var out, properties ordered
	var required []string
	for i := range t.fields {
		f := &t.fields[i]
		if !f.optional {
			required = append(required, f.name)
		}
		var p ordered
		p.add("description", f.doc)
		properties.add(f.name, append(p, f.jsonType()...))
	}
	out.add("type", "object")
	out.add("required", required)
	out.add("properties", properties)
	return out
}

func (f *field) jsonType() ordered {
	var out ordered
	switch {
	case f.constant != "":
		out.add("const", f.constant)
	case f.enum != "":
		out.add("enum", enums[f.enum])
	case f.of != nil:
		out.add("$ref", "#/$defs/"+strings.ToLower(f.of.name))
	default:
		out.add("type", map[types.Kind]string{types.IntKind: "integer", types.BoolKind: "boolean", types.MapKind: "object"}[f.cel.Kind()])
		if f.cel.Kind() == types.StringKind || f.list {
			out[0].value = "string"
		}
	}
	if !f.list {
		return out
	}
	var list ordered
	list.add("type", "array")
	list.add("items", out)
	return list
}

// pageHead begins the page of the ledger.
const pageHead = "# The ledger, and your own rules\n\n" +
	"What a run's server did and said is its ledger: effects, claims, calls and findings. A rule of your own is an expression in\n" +
	"[CEL](https://github.com/google/cel-spec) over one entry. `coalmine schema ledger` prints the schema (`" + Schema + "`; within v1 members\n" +
	"are only added), and `coalmine rules test` holds the rules against their own examples. This page is made from `analyze/custom`:\n" +
	"`go test ./analyze/custom -run TestLedgerPage -update` writes it anew.\n\n" +
	"## A rule\n\n```yaml\n" + pageExample + "```\n\n" +
	"| member | what it is |\n|---|---|\n" +
	"| `id` | a prefix of your own, a hyphen and a name, in capital letters and digits; each once |\n" +
	"| `name` | the title, in one line |\n" +
	"| `severity` | critical, high, medium or low |\n" +
	"| `over` | effect, claim, call or finding: what the expression is asked about, and by which name |\n" +
	"| `when` | the expression; it gives true for an entry that is to be reported |\n" +
	"| `text` | the message. `{effect.tool}` shows a member as it is, escaped and at most 200 bytes of it; nothing else can be computed |\n" +
	"| `examples` | entries of the schema below: `match` are reported, `no_match` are not. Both are required: a rule that never speaks looks like a server that does nothing. Members may be left out; they are absent then |\n" +
	"| `help`, `references`, `tags` | for the reports; each may be left out |\n\n" +
	"A file holds `schema: " + FileSchema + "` and a list `rules`. The list `rules` of `coalmine.yaml` holds rules, and names of files\n" +
	"below the policy's directory.\n\n" +
	"## Expressions\n\n" +
	"All of CEL's standard functions and macros are there but those of time (`timestamp`, `duration` and what reads them), and these:\n\n" +
	"| function | what it gives |\n|---|---|\n" +
	"| `path.below(dir)` | whether a path is a directory's or of something in it |\n" +
	"| `text.lowerAscii()` | the text with the letters A to Z made small |\n\n" +
	"`has(effect.explained)` says whether a member is there. One that is absent is `\"\"`, 0, false, an empty list or an object without\n" +
	"members; but a name that `call.arguments` does not hold is an error, so guard it by `has`. A rule that fails, costs too much or\n" +
	"speaks of more than 1000 entries leaves a reason for doubt (`rule-failed`), and the run is never clean then. The pattern of `matches`\n" +
	"is written out, and an expression has at most 4096 characters and two loops one within the other.\n"

// pageExample is a rule that the tests hold against its examples.
const pageExample = `rules:
  - id: ORG-001
    name: A program that the handbook does not list
    severity: high
    over: effect
    when: effect.kind == "exec" && effect.noise == "" && !(effect.target in ["/usr/bin/git", "/usr/bin/rg"])
    text: "“{effect.tool}” runs {effect.target}"
    help: Servers run what the handbook lists, and nothing else.
    references: [https://handbook.example/programs]
    tags: [programs]
    examples:
      match:
        - {kind: exec, target: /usr/bin/curl, tool: fetch}
      no_match:
        - {kind: exec, target: /usr/bin/git, tool: log}
        - {kind: exec, target: /usr/bin/node, noise: launch}
`

// Page is docs/ledger.md.
func Page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, d := range documented {
		t := typesOf()[d.t]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| member | type | what it is |\n|---|---|---|\n", t.name, d.title)
		for i := range t.fields {
			f := &t.fields[i]
			doc := f.doc
			if f.enum != "" {
				doc += ": " + strings.Join(enums[f.enum], ", ")
			}
			name := f.cel.String()
			if f.of != nil {
				name = strings.ReplaceAll(name, "coalmine.", "")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, name, doc)
		}
	}
	return b.String()
}
