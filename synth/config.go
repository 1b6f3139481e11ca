package synth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// Session is a server that has been connected to and listed.
type Session interface {
	CallTool(ctx context.Context, name string, args json.RawMessage) (client.Result, error)
	ReadResource(ctx context.Context, uri string) (client.Result, error)
	GetPrompt(ctx context.Context, name string, args map[string]string) (client.Result, error)
	// Relist lists the surface again, all of it: what it leaves out counts as
	// withdrawn. client.List needs the capabilities of the first listing for that.
	Relist(ctx context.Context) (*wire.Surface, error)
	// Sync returns once everything that the server did until now is recorded.
	Sync(ctx context.Context) error
}

// Completer is a Session that can also complete arguments.
type Completer interface {
	Complete(ctx context.Context, of client.Completion, argument, value string) (client.Result, error)
}

// What is called.
const (
	WhatTool     = "tool"
	WhatResource = "resource"
	WhatPrompt   = "prompt"
	// WhatCompletion completes an argument of a prompt or a template.
	WhatCompletion = "completion"
)

// Outcome is how a call ended.
type Outcome = session.Outcome

// Outcomes.
const (
	OK        = session.OutcomeOK
	IsError   = session.OutcomeIsError
	Error     = session.OutcomeError
	Timeout   = session.OutcomeTimeout
	Crash     = session.OutcomeCrash
	Cancelled = session.OutcomeCancelled
)

// Call is one call.
type Call struct {
	// N counts from 1 over the whole drive.
	N    int
	What string
	// Tool is the tool's or prompt's name, or the resource's URI.
	Tool string
	Args json.RawMessage
	// Class is what kind of values the arguments are.
	Class string
	// Violation names what is wrong with invalid arguments.
	Violation string
	// Oracles are what the arguments carry to be proven by an effect.
	Oracles []session.Injection
	// Turn is the kind of answer that the server gets meanwhile from the services that it asks,
	// below Config.Turns; 0 is the one that fits.
	Turn int
	// Repeats is the call just before that this one repeats word for word, 0 for none.
	Repeats int
	// From are the calls whose answers the arguments may come from, in order: an answer has
	// one of the values, or a refusal changed the schema. It is nil for what was drawn from
	// the seed and the declarations alone.
	From []int
	// Of is what a completion completes an argument of.
	Of client.Completion
	// Progress says that a replayed call asks for progress.
	Progress bool
}

// Config is all that a drive needs. Only Session and Surface are required.
type Config struct {
	Session Session
	Surface *wire.Surface
	// Calls is how often each tool is called, 8 if not positive.
	Calls int
	Seed  int64
	// CallTimeout bounds each call, 30 s if not positive.
	CallTimeout time.Duration
	// Budget bounds the whole drive; none if not positive.
	Budget time.Duration
	Hints  schema.Hints
	// World is what oracle inputs aim at; nil for no oracles. Words are further
	// names that tools and arguments may have. OracleTime bounds them all, 25 s
	// if not positive.
	World *oracle.World
	Words []string
	// Skip are tools that are not called, declared or not.
	Skip []string
	// Only is the one tool that is called, "" for all that the surface has. Avoid are
	// arguments that it is not given.
	Only       string
	Avoid      []json.RawMessage
	OracleTime time.Duration
	// ListOnce leaves out the listing after each call.
	ListOnce bool
	// OnPlan is called once, before the first call, with the first call of each target.
	OnPlan func([]Call)
	// OnCall, OnReturn and OnChange are called in order, from the goroutine that drives.
	OnCall   func(Call)
	OnReturn func(Call, Outcome, client.Result)
	OnChange func(Change)
	// Turns is how many kinds of answers the services give, 0 where they give but one. Asked reports
	// whether the server asked one since the latest call began.
	Turns int
	Asked func() bool
	// Rows are further kinds of answers, whose lists hold a program and its arguments.
	Rows []int
	// Now is the clock, time.Now if nil.
	Now func() time.Time
}

// Defaults and bounds of a drive.
const (
	DefaultCalls       = 8
	DefaultCallTimeout = 30 * time.Second
	DefaultOracleTime  = 25 * time.Second
	maxTools           = 10_000
	maxResources       = 256
	maxTemplates       = 32
	maxPrompts         = 64
	// leastTimeout is what a call gets however little of the budget is left.
	leastTimeout = time.Second
	// maxTimeouts is how many calls of one tool may time out before it is left alone.
	maxTimeouts = 2
	// relistShare is how much of the time spent may go into listing again, and
	// relistBudget how much of the whole budget may where that is exceeded.
	relistShare  = 0.4
	relistBudget = 0.2
	// relistGrace is the time for listing again that is always allowed.
	relistGrace = 5 * time.Second
)

func (c Config) filled() (Config, error) {
	if c.Session == nil || c.Surface == nil {
		return c, errors.New("drive: a session and its surface are needed")
	}
	if c.Calls <= 0 {
		c.Calls = DefaultCalls
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = DefaultCallTimeout
	}
	if c.OracleTime <= 0 {
		c.OracleTime = DefaultOracleTime
	}
	if c.OnPlan == nil {
		c.OnPlan = func([]Call) {}
	}
	if c.OnCall == nil {
		c.OnCall = func(Call) {}
	}
	if c.OnReturn == nil {
		c.OnReturn = func(Call, Outcome, client.Result) {}
	}
	if c.Asked == nil {
		c.Asked = func() bool { return false }
	}
	if c.OnChange == nil {
		c.OnChange = func(Change) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Hints.Dictionary == nil {
		c.Hints.Dictionary = &schema.Dictionary{}
	}
	return c, nil
}

// Report is what a drive reached.
type Report struct {
	// Tools are in the order in which the server declared them; resources,
	// templates and prompts follow.
	Tools     []Coverage
	Resources []Coverage
	Prompts   []Coverage
	// Unreached names what was never called, as "tool X".
	Unreached []string
	// Changes are what the server changed about its surface between calls.
	Changes []Change
	// Crashed is the call at which the server ended, nil if it did not.
	Crashed *Call
	// Shortfalls are what was not done as configured.
	Shortfalls []session.Gap
	// Calls counts all calls.
	Calls   int
	Elapsed time.Duration
}

// Coverage is what was reached of one tool, resource or prompt.
type Coverage struct {
	Name     string
	Calls    int
	OK       int
	IsError  int
	Errors   int
	Timeouts int
	// OraclesTried of OraclesPlanned inputs carried an oracle.
	OraclesTried, OraclesPlanned int
	// Made counts all calls, those of oracles and sequences too; after Listed of them
	// the surface was listed again.
	Made, Listed int
	// FirstOK is the N of the first call that succeeded, 0 for none.
	FirstOK int
	// Problem says why the arguments could not be as the schema asks.
	Problem string
	// Why says why it was not called as often as configured.
	Why string
	// Inputs is what of a tool's schema its arguments reached; Classes counts
	// the calls by what kind of arguments they had.
	Inputs  schema.Counts
	Classes map[string]int
}
