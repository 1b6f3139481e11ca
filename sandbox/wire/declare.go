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
	s, ok := str(v)
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

// list walks result[key], an array of objects, and reads the cursor. An entry
// for which each returns false was left out.
func list(result json.RawMessage, key string, each func(f fields, entry json.RawMessage) bool) (cursor string, err error) {
	if err := CheckJSON(result); err != nil {
		return "", fmt.Errorf("result of %s: %w", key, err)
	}
	var bad faults
	var entries json.RawMessage
	top := fields{what: "result of " + key, bad: &bad}
	if !members(result, func(k string, v json.RawMessage) {
		switch k {
		case key:
			entries = v
		case "nextCursor":
			cursor = ""
			top.text(&cursor, k, v)
		}
	}) {
		return "", fmt.Errorf("result of %s is not an object", key)
	}
	if !elements(entries, func(i int, v json.RawMessage) {
		f := fields{what: fmt.Sprintf("%s[%d]", key, i), bad: &bad}
		if !each(f, v) {
			f.bad.add("%s: left out, it is no object with its identifying string", f.what)
		}
	}) {
		bad.add("result of %s: %q is not an array", key, key)
	}
	return cursor, bad.err()
}

// ParseTools reads a tools/list result. An entry that cannot be read, because
// it is no object or has no name, is left out and named in err; a member of the
// wrong type counts as absent and is named in err too. The other entries and
// the cursor are returned all the same. Nothing is removed for being a duplicate.
func ParseTools(result json.RawMessage) (tools []Tool, nextCursor string, err error) {
	nextCursor, err = list(result, "tools", func(f fields, entry json.RawMessage) bool {
		t := Tool{Raw: entry}
		named := false
		members(entry, func(k string, v json.RawMessage) {
			switch k {
			case "name":
				t.Name, named = str(v)
			case "title":
				f.text(&t.Title, k, v)
			case "description":
				f.text(&t.Description, k, v)
			case "inputSchema":
				t.InputSchema = present(v)
			case "outputSchema":
				t.OutputSchema = present(v)
			case "annotations":
				t.Annotations = parseAnnotations(f, v)
			}
		})
		if named {
			tools = append(tools, t)
		}
		return named
	})
	return tools, nextCursor, err
}

func parseAnnotations(f fields, raw json.RawMessage) *Annotations {
	if raw[0] == 'n' {
		return nil
	}
	a := &Annotations{}
	if !members(raw, func(k string, v json.RawMessage) {
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
	nextCursor, err = list(result, "resources", func(f fields, entry json.RawMessage) bool {
		r := Resource{Raw: entry}
		named := false
		members(entry, func(k string, v json.RawMessage) {
			switch k {
			case "uri":
				r.URI, named = str(v)
			case "name":
				f.text(&r.Name, k, v)
			case "title":
				f.text(&r.Title, k, v)
			case "description":
				f.text(&r.Description, k, v)
			case "mimeType":
				f.text(&r.MIMEType, k, v)
			}
		})
		if named {
			resources = append(resources, r)
		}
		return named
	})
	return resources, nextCursor, err
}

// ParseTemplates reads a resources/templates/list result as ParseTools reads its own.
func ParseTemplates(result json.RawMessage) (templates []ResourceTemplate, nextCursor string, err error) {
	nextCursor, err = list(result, "resourceTemplates", func(f fields, entry json.RawMessage) bool {
		t := ResourceTemplate{Raw: entry}
		named := false
		members(entry, func(k string, v json.RawMessage) {
			switch k {
			case "uriTemplate":
				t.URITemplate, named = str(v)
			case "name":
				f.text(&t.Name, k, v)
			case "title":
				f.text(&t.Title, k, v)
			case "description":
				f.text(&t.Description, k, v)
			case "mimeType":
				f.text(&t.MIMEType, k, v)
			}
		})
		if named {
			templates = append(templates, t)
		}
		return named
	})
	return templates, nextCursor, err
}

// ParsePrompts reads a prompts/list result as ParseTools reads its own.
func ParsePrompts(result json.RawMessage) (prompts []Prompt, nextCursor string, err error) {
	nextCursor, err = list(result, "prompts", func(f fields, entry json.RawMessage) bool {
		p := Prompt{Raw: entry}
		named := false
		members(entry, func(k string, v json.RawMessage) {
			switch k {
			case "name":
				p.Name, named = str(v)
			case "title":
				f.text(&p.Title, k, v)
			case "description":
				f.text(&p.Description, k, v)
			case "arguments":
				p.Arguments = parseArguments(f, v)
			}
		})
		if named {
			prompts = append(prompts, p)
		}
		return named
	})
	return prompts, nextCursor, err
}

func parseArguments(f fields, raw json.RawMessage) (args []PromptArgument) {
	if raw[0] == 'n' {
		return nil
	}
	if !elements(raw, func(i int, v json.RawMessage) {
		f := fields{what: fmt.Sprintf("%s.arguments[%d]", f.what, i), bad: f.bad}
		var a PromptArgument
		named := false
		members(v, func(k string, v json.RawMessage) {
			switch k {
			case "name":
				a.Name, named = str(v)
			case "description":
				f.text(&a.Description, k, v)
			case "required":
				var required *bool
				f.hint(&required, k, v)
				a.Required = required != nil && *required
			}
		})
		if !named {
			f.bad.add("%s: left out, it is no object with a name", f.what)
			return
		}
		args = append(args, a)
	}) {
		f.bad.add("%s: \"arguments\" is not an array", f.what)
	}
	return args
}
