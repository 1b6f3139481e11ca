package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Result is how a server answered a call.
type Result struct {
	// Raw is the result as it came, nil if there was an error instead.
	Raw json.RawMessage
	// IsError says that the tool itself reported a failure.
	IsError bool
	// InputRequired says that the server asked for input instead of giving a
	// result. It gets none.
	InputRequired bool
	// Err is the JSON-RPC error, nil if there was a result.
	Err *wire.Error
}

// Completion names what Complete completes an argument of: one of the two.
type Completion struct {
	Prompt   string `json:"prompt,omitempty"`
	Template string `json:"template,omitempty"`
}

// CallTool calls a tool. No args means an empty object; otherwise args may be
// any JSON, valid for the tool or not. A tool that was listed as one to be
// called as a task is, and the result is the task's.
func (c *Client) CallTool(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage(`{}`)
	}
	as := c.asTask(name)
	params := struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
		Task *task           `json:"task,omitempty"`
		Meta json.RawMessage `json:"_meta,omitempty"`
		*inputs
	}{name, args, as, c.metadataWith(ctx), nil}
	r, err := c.call(ctx, "tools/call", params)
	for n := 0; n < maxAsked && err == nil && r.InputRequired; n++ {
		if params.inputs = c.supply(r.Raw); params.inputs == nil {
			break
		}
		r, err = c.call(ctx, "tools/call", params)
	}
	if as == nil || err != nil {
		return r, err
	}
	return c.taskResult(ctx, r)
}

// maxAsked is how often a call's result may ask for input again.
const maxAsked = 3

// inputs are what a call is repeated with after a result that asked for them.
type inputs struct {
	Responses map[string]json.RawMessage `json:"inputResponses"`
	State     json.RawMessage            `json:"requestState,omitempty"`
}

// supply answers what a result asks for, nil where one of it has no answer: a user
// declines a form, a model and roots are there if configured. The newer era has no
// other refusal.
func (c *Client) supply(raw json.RawMessage) *inputs {
	members, _ := object(raw)
	requests, ok := object(members["inputRequests"])
	if !ok || len(requests) == 0 || len(requests) > maxPending {
		return nil
	}
	in := &inputs{Responses: map[string]json.RawMessage{}, State: members["requestState"]}
	for id, request := range requests {
		m, _ := object(request)
		switch method := text(m["method"]); {
		case method == methodElicit && c.opts.Declines:
			in.Responses[id] = declined
		case method == methodRoots && len(c.opts.Roots) > 0:
			in.Responses[id] = c.roots()
		case method == methodSample && c.mayAnswer():
			in.Responses[id] = c.answerOfModel()
		default:
			return nil
		}
	}
	return in
}

// ReadResource reads a resource.
func (c *Client) ReadResource(ctx context.Context, uri string) (Result, error) {
	return c.call(ctx, "resources/read", struct {
		URI  string          `json:"uri"`
		Meta json.RawMessage `json:"_meta,omitempty"`
	}{uri, c.metadata()})
}

// GetPrompt gets a prompt.
func (c *Client) GetPrompt(ctx context.Context, name string, args map[string]string) (Result, error) {
	return c.call(ctx, "prompts/get", struct {
		Name string            `json:"name"`
		Args map[string]string `json:"arguments,omitempty"`
		Meta json.RawMessage   `json:"_meta,omitempty"`
	}{name, args, c.metadata()})
}

// Complete asks for completions of an argument's value.
func (c *Client) Complete(ctx context.Context, of Completion, argument, value string) (Result, error) {
	type ref struct {
		Type string  `json:"type"`
		Name *string `json:"name,omitempty"`
		URI  *string `json:"uri,omitempty"`
	}
	type arg struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	r := ref{Type: "ref/prompt", Name: &of.Prompt}
	if of.Prompt == "" && of.Template != "" {
		r = ref{Type: "ref/resource", URI: &of.Template}
	}
	return c.call(ctx, "completion/complete", struct {
		Ref      ref             `json:"ref"`
		Argument arg             `json:"argument"`
		Meta     json.RawMessage `json:"_meta,omitempty"`
	}{r, arg{argument, value}, c.metadata()})
}

// call makes a request and reads of its answer only what every result has.
func (c *Client) call(ctx context.Context, method string, params any) (Result, error) {
	raw, err := encode(params)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", method, err)
	}
	m, err := c.request(ctx, method, raw, c.opts.CallTimeout)
	if err != nil {
		return Result{}, err
	}
	if m.Error != nil {
		return Result{Err: m.Error}, nil
	}
	r := Result{Raw: m.Result}
	members, ok := object(m.Result)
	if !ok {
		c.note(BadResult, "%s: the result is not an object", method)
		return r, nil
	}
	r.IsError = string(bytes.TrimSpace(members["isError"])) == "true"
	r.InputRequired = text(members["resultType"]) == "input_required"
	if r.InputRequired {
		c.note(InputRequired, "%s: the server asked for input instead of giving a result", method)
	}
	return r, nil
}

// metadata is the _meta that a request of the modern era must carry.
func (c *Client) metadata() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.meta
}

// progressKey is the key of a progress token in a context.
type progressKey struct{}

// WithProgress has the calls of tools under ctx ask for progress, by this token.
func WithProgress(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, progressKey{}, token)
}

// metadataWith is metadata with the progress token of a context.
func (c *Client) metadataWith(ctx context.Context) json.RawMessage {
	meta := c.metadata()
	token, ok := ctx.Value(progressKey{}).(string)
	if !ok {
		return meta
	}
	members, ok := object(meta)
	if !ok {
		members = map[string]json.RawMessage{}
	}
	quoted, err := encode(token)
	if err != nil {
		return meta
	}
	members["progressToken"] = quoted
	if all, err := encode(members); err == nil {
		return all
	}
	return meta
}

// object reads a JSON object's members, each raw.
func object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, false
	}
	return m, true
}

// text reads a JSON string, or nothing.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
