package wire

import "encoding/json"

// Surface is all that a server declares about itself.
type Surface struct {
	Server       Implementation
	Protocol     string
	Instructions string
	// Capabilities is the raw object, nil when absent.
	Capabilities json.RawMessage
	Tools        []Tool
	Resources    []Resource
	Templates    []ResourceTemplate
	Prompts      []Prompt
}

// Implementation names a program.
type Implementation struct {
	Name, Title, Version string
	// WebsiteURL is where the program is presented, "" for none.
	WebsiteURL string `json:",omitempty"`
}

// Tool is one tool's declaration.
type Tool struct {
	Name, Title, Description string
	// InputSchema and OutputSchema are raw JSON of any type, nil when absent.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	// Annotations is nil when the member is absent.
	Annotations *Annotations
	// Raw is the whole entry as the server sent it.
	Raw json.RawMessage
}

// Annotations are a tool's hints. A nil pointer is a hint that was not given;
// what then holds is for the reader of the specification to say.
type Annotations struct {
	Title       string
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// Resource is one resource's declaration.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	Raw                                     json.RawMessage
}

// ResourceTemplate is one resource template's declaration.
type ResourceTemplate struct {
	URITemplate, Name, Title, Description, MIMEType string
	Raw                                             json.RawMessage
}

// Prompt is one prompt's declaration.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	Raw                      json.RawMessage
}

// PromptArgument is one argument of a Prompt.
type PromptArgument struct {
	Name, Description string
	Required          bool
}
