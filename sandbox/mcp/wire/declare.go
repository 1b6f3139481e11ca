package wire

import (
	"encoding/json"
	"fmt"
)

// fields reads members of one entry by exact key. Null counts as absent: that is
// how serialisers write an option that was not given.
type fields struct {
	what string
	bad  *faults
}

func (f fields) text(dst *string, key string, v json.RawMessage) {
	if v[0] == 'n' {
		return
	}
	s, ok := Text(v)
	if !ok {
		f.bad.add("%s: %q is not a string", f.what, key)
		return
	}
	*dst = s
}

func (f fields) hint(dst **bool, key string, v json.RawMessage) {
	switch string(v) {
	case "true", "false":
		b := v[0] == 't'
		*dst = &b
	case "null":
	default:
		f.bad.add("%s: %q is not a boolean", f.what, key)
	}
}

func present(v json.RawMessage) json.RawMessage {
	if v[0] == 'n' {
		return nil
	}
	return v
}

// entry reads an object whose member id identifies it, as text into to: texts are
// members that are text, and other is shown the rest. It reports whether it was one.
func (f fields) entry(obj json.RawMessage, id string, to *string, texts map[string]*string, other func(key string, v json.RawMessage)) (named bool) {
	EachMember(obj, func(k string, v json.RawMessage) {
		switch dst := texts[k]; {
		case k == id:
			*to, named = Text(v)
		case dst != nil:
			f.text(dst, k, v)
		case other != nil:
			other(k, v)
		}
	})
	return named
}

// list reads result[key], an array of objects, and the cursor. An entry that each
// says is none was left out.
func list[T any](result json.RawMessage, key string, each func(f fields, entry json.RawMessage) (T, bool)) (all []T, cursor string, err error) {
	if err := CheckJSON(result); err != nil {
		return nil, "", fmt.Errorf("result of %s: %w", key, err)
	}
	var bad faults
	var entries json.RawMessage
	top := fields{what: "result of " + key, bad: &bad}
	if !EachMember(result, func(k string, v json.RawMessage) {
		switch k {
		case key:
			entries = v
		case "nextCursor":
			cursor = ""
			top.text(&cursor, k, v)
		}
	}) {
		return nil, "", fmt.Errorf("result of %s is not an object", key)
	}
	if !WalkArray(entries, func(i int, v []byte) {
		f := fields{what: fmt.Sprintf("%s[%d]", key, i), bad: &bad}
		one, ok := each(f, v)
		if !ok {
			f.bad.add("%s: left out, it is not an object with its identifying string", f.what)
			return
		}
		all = append(all, one)
	}) {
		bad.add("result of %s: %q is not an array", key, key)
	}
	return all, cursor, bad.err()
}

// ParseTools reads a tools/list result. An entry that cannot be read, because
// it is no object or has no name, is left out and named in err; a member of the
// wrong type counts as absent and is named in err too. The other entries and
// the cursor are returned all the same. Nothing is removed for being a duplicate.
func ParseTools(result json.RawMessage) (tools []Tool, nextCursor string, err error) {
	return list(result, "tools", func(f fields, entry json.RawMessage) (Tool, bool) {
		t := Tool{Raw: entry}
		ok := f.entry(entry, "name", &t.Name, map[string]*string{"title": &t.Title, "description": &t.Description}, func(k string, v json.RawMessage) {
			switch k {
			case "inputSchema":
				t.InputSchema = present(v)
			case "outputSchema":
				t.OutputSchema = present(v)
			case "annotations":
				t.Annotations = parseAnnotations(f, v)
			}
		})
		return t, ok
	})
}

func parseAnnotations(f fields, raw json.RawMessage) *Annotations {
	if raw[0] == 'n' {
		return nil
	}
	a := &Annotations{}
	if !EachMember(raw, func(k string, v json.RawMessage) {
		switch k {
		case "title":
			f.text(&a.Title, k, v)
		case "readOnlyHint":
			f.hint(&a.ReadOnly, k, v)
		case "destructiveHint":
			f.hint(&a.Destructive, k, v)
		case "idempotentHint":
			f.hint(&a.Idempotent, k, v)
		case "openWorldHint":
			f.hint(&a.OpenWorld, k, v)
		}
	}) {
		f.bad.add("%s: \"annotations\" is not an object", f.what)
		return nil
	}
	return a
}

// ParseResources reads a resources/list result as ParseTools reads its own.
func ParseResources(result json.RawMessage) (resources []Resource, nextCursor string, err error) {
	return list(result, "resources", func(f fields, entry json.RawMessage) (Resource, bool) {
		r := Resource{Raw: entry}
		ok := f.entry(entry, "uri", &r.URI, map[string]*string{
			"name": &r.Name, "title": &r.Title, "description": &r.Description, "mimeType": &r.MIMEType,
		}, nil)
		return r, ok
	})
}

// ParseTemplates reads a resources/templates/list result as ParseTools reads its own.
func ParseTemplates(result json.RawMessage) (templates []ResourceTemplate, nextCursor string, err error) {
	return list(result, "resourceTemplates", func(f fields, entry json.RawMessage) (ResourceTemplate, bool) {
		t := ResourceTemplate{Raw: entry}
		ok := f.entry(entry, "uriTemplate", &t.URITemplate, map[string]*string{
			"name": &t.Name, "title": &t.Title, "description": &t.Description, "mimeType": &t.MIMEType,
		}, nil)
		return t, ok
	})
}

// ParsePrompts reads a prompts/list result as ParseTools reads its own.
func ParsePrompts(result json.RawMessage) (prompts []Prompt, nextCursor string, err error) {
	return list(result, "prompts", func(f fields, entry json.RawMessage) (Prompt, bool) {
		p := Prompt{Raw: entry}
		ok := f.entry(entry, "name", &p.Name, map[string]*string{"title": &p.Title, "description": &p.Description}, func(k string, v json.RawMessage) {
			if k == "arguments" {
				p.Arguments = parseArguments(f, v)
			}
		})
		return p, ok
	})
}

func parseArguments(f fields, raw json.RawMessage) (args []PromptArgument) {
	if raw[0] == 'n' {
		return nil
	}
	if !WalkArray(raw, func(i int, v []byte) {
		f := fields{what: fmt.Sprintf("%s.arguments[%d]", f.what, i), bad: f.bad}
		var a PromptArgument
		if !f.entry(v, "name", &a.Name, map[string]*string{"description": &a.Description}, func(k string, v json.RawMessage) {
			if k == "required" {
				var required *bool
				f.hint(&required, k, v)
				a.Required = required != nil && *required
			}
		}) {
			f.bad.add("%s: left out, it is not an object with a name", f.what)
			return
		}
		args = append(args, a)
	}) {
		f.bad.add("%s: \"arguments\" is not an array", f.what)
	}
	return args
}
