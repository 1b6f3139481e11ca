package client

import (
	"context"
	"encoding/json"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// taskTTL is how long a server is asked to keep a task's result, in milliseconds.
const taskTTL = 60_000

// task is how a call asks to be run as a task, and how the answer names it.
type task struct {
	TTL int    `json:"ttl,omitempty"`
	ID  string `json:"taskId,omitempty"`
}

// remember notes the tools that can be called as a task only.
func (c *Client) remember(tools []wire.Tool) {
	tasked := map[string]bool{}
	for _, t := range tools {
		var declared struct {
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
		}
		if json.Unmarshal(t.Raw, &declared) == nil && declared.Execution.TaskSupport == "required" {
			tasked[t.Name] = true
		}
	}
	c.mu.Lock()
	c.tasked = tasked
	c.mu.Unlock()
}

// asTask is what a call of a tool says of tasks: nothing for an ordinary tool.
func (c *Client) asTask(tool string) *task {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tasked[tool] {
		return nil
	}
	return &task{TTL: taskTTL}
}

// taskResult waits for the result of the task that an answer names, and is the
// answer itself where it names none.
func (c *Client) taskResult(ctx context.Context, r Result) (Result, error) {
	var created struct {
		Task task `json:"task"`
	}
	if r.Err != nil || json.Unmarshal(r.Raw, &created) != nil || created.Task.ID == "" {
		return r, nil
	}
	return c.call(ctx, "tasks/result", struct {
		ID   string          `json:"taskId"`
		Meta json.RawMessage `json:"_meta,omitempty"`
	}{created.Task.ID, c.metadata()})
}
