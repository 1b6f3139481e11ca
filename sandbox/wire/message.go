package wire

import "encoding/json"

// Message is one JSON-RPC 2.0 message. Which kind it is, its members say.
type Message struct {
	// ID is the raw id: a string, a number or null; nil when the member is absent.
	ID     json.RawMessage
	Method string
	// Params, Result are nil when absent.
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int64
	Message string
	Data    json.RawMessage
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// IsRequest reports whether m asks for an answer.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m asks for none.
func (m Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether m is an answer, good or bad.
func (m Message) IsResponse() bool { return m.Method == "" }

// Parse reads one line: a message, or a batch of them.
func Parse(raw []byte) ([]Message, error) { return nil, nil }
