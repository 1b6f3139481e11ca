package plan

import "encoding/json"

// Remote is a server that is reached by its address and runs outside every sandbox.
type Remote struct {
	// Address is the server's http or https URL.
	Address string
	// Header are what each request carries, by name: their values are secrets.
	Header map[string]string
	// Secrets are the values of the variables in Header, to be kept out of every file.
	Secrets []string
	// Variables are the names of the environment variables that Header comes from, by header.
	Variables map[string]string
	// Calls are made in this order, and CallReadOnly calls each tool that declares to be
	// read-only.
	Calls        []RemoteCall
	CallReadOnly bool
}

// RemoteCall is a call that the user asked for.
type RemoteCall struct {
	Name string
	// Args is a JSON object.
	Args json.RawMessage
}
