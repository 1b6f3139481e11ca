package sinkhole

import "github.com/coalmine-dev/coalmine/sandbox/trace"

// Event is one observation of a flow.
type Event = trace.Flow

// The types of an Event.
const (
	TypeOpen    = trace.FlowOpen
	TypeTLS     = trace.FlowTLS
	TypeRequest = trace.FlowRequest
	TypeQuery   = trace.FlowQuery
	TypeData    = trace.FlowData
	TypeRefused = trace.FlowRefused
	TypeClose   = trace.FlowClose
	TypeLoss    = trace.FlowLoss
	// TypeStatement is a statement that a service has answered.
	TypeStatement = trace.FlowStatement
)

// View is what a data event's bytes are.
type View = trace.View

// The views of a flow.
const (
	ViewWire    = trace.ViewWire
	ViewRequest = trace.ViewRequest
	ViewMessage = trace.ViewMessage
)
