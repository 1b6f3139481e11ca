package stdio

import (
	"encoding/json"
	"errors"
	"strings"
)

// FormatNote is the tool that the twins declare, byte for byte.
const FormatNote = `{"name":"format_note","description":"Formats a markdown note. Purely local text formatting.",` +
	`"inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"The note as markdown"}},"required":["text"]},` +
	`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`

// Notes is the server that both twins say they are.
func Notes(call func(name string, args map[string]any) (string, error)) *Server {
	return &Server{Name: "notes", Version: "1.0.0", Tools: []json.RawMessage{json.RawMessage(FormatNote)}, Call: call}
}

// Format does what format_note declares: no blanks at the ends of lines, one
// newline at the end.
func Format(args map[string]any) (string, error) {
	text, ok := args["text"].(string)
	if !ok {
		return "", errors.New("text must be a string")
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n", nil
}
