package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Message is one JSON-RPC 2.0 message. Which kind it is, its members say.
type Message struct {
	// ID is the raw id: a string, a number or null; nil when the member is absent.
	ID     json.RawMessage
	Method string
	// Params and Result are nil when absent.
	Params json.RawMessage
	Result json.RawMessage
	Error  *Error
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int64
	Message string
	// Data is nil when absent.
	Data json.RawMessage
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message) }

// IsRequest reports whether m asks for an answer.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification reports whether m asks for none.
func (m Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse reports whether m is an answer, good or bad.
func (m Message) IsResponse() bool { return m.Result != nil || m.Error != nil }

// ErrEmpty is Parse's answer to a line of white space.
var ErrEmpty = errors.New("empty line")

// Parse reads one line: a JSON-RPC 2.0 message, or a batch of them. Of a batch
// the good messages are returned beside an error that names the bad ones.
// Nothing returned shares memory with raw.
//
// It is strict where two readers could differ. Refused are: anything but one
// JSON value in UTF-8 (NaN and infinities are no JSON), nesting beyond
// MaxDepth, the same key twice in any object, keys in another case, a version
// other than "2.0", an id that is neither string, number nor null, a message
// that is no single one of request, notification and response, and an empty
// batch. Accepted are members that the specification does not name, and
// "params":null, which means no params to everyone who sends it.
func Parse(raw []byte) ([]Message, error) {
	return ParseShared(bytes.Clone(raw))
}

// ParseShared is Parse, but what it returns shares memory with raw: it is valid as long as that is.
func ParseShared(raw []byte) ([]Message, error) {
	raw = bytes.Trim(raw, " \t\r\n")
	if len(raw) == 0 {
		return nil, ErrEmpty
	}
	if err := checkUnique(raw); err != nil {
		return nil, fmt.Errorf("not a JSON-RPC message: %w", err)
	}
	if raw[0] != '[' {
		m, err := parseMessage(raw)
		if err != nil {
			return nil, fmt.Errorf("not a JSON-RPC message: %w", err)
		}
		return []Message{m}, nil
	}
	var out []Message
	var bad faults
	n := 0
	WalkArray(raw, func(i int, v []byte) {
		n++
		m, err := parseMessage(v)
		if err != nil {
			bad.add("batch entry %d: %v", i, err)
			return
		}
		out = append(out, m)
	})
	if n == 0 {
		return nil, errors.New("not a JSON-RPC message: the batch is empty")
	}
	return out, bad.err()
}

func parseMessage(raw json.RawMessage) (Message, error) {
	var e Envelope
	if err := e.Read(raw); err != nil {
		return Message{}, err
	}
	if v, ok := Text(e.Version); !ok || v != "2.0" {
		return Message{}, errors.New(`"jsonrpc" is not "2.0"`)
	}
	if e.ID != nil {
		if c := e.ID[0]; c == '{' || c == '[' || c == 't' || c == 'f' {
			return Message{}, errors.New(`"id" is neither a string, a number nor null`)
		}
	}
	if e.Method != nil {
		return e.call()
	}
	return e.answer()
}

// call makes a request or a notification.
func (e *Envelope) call() (Message, error) {
	method, ok := Text(e.Method)
	switch {
	case !ok || method == "":
		return Message{}, errors.New(`"method" is not a name`)
	case e.Result != nil || e.Error != nil:
		return Message{}, errors.New(`"method" beside "result" or "error"`)
	case e.Params != nil && e.Params[0] != '{' && e.Params[0] != '[' && e.Params[0] != 'n':
		return Message{}, errors.New(`"params" is neither an object nor an array`)
	}
	params := e.Params
	if len(params) > 0 && params[0] == 'n' {
		params = nil
	}
	return Message{ID: e.ID, Method: method, Params: params}, nil
}

// answer makes a response.
func (e *Envelope) answer() (Message, error) {
	switch {
	case e.ID == nil:
		return Message{}, errors.New(`neither "method" nor "id"`)
	case e.Params != nil:
		return Message{}, errors.New(`"params" without "method"`)
	case e.Result != nil && e.Error != nil:
		return Message{}, errors.New(`both "result" and "error"`)
	case e.Result != nil:
		return Message{ID: e.ID, Result: e.Result}, nil
	case e.Error == nil:
		return Message{}, errors.New(`neither "method", "result" nor "error"`)
	}
	fault, err := parseError(e.Error)
	return Message{ID: e.ID, Error: fault}, err
}

func parseError(raw json.RawMessage) (*Error, error) {
	var code, text, data json.RawMessage
	if !EachMember(raw, func(k string, v json.RawMessage) {
		switch k {
		case "code":
			code = v
		case "message":
			text = v
		case "data":
			data = v
		}
	}) {
		return nil, errors.New(`"error" is not an object`)
	}
	n, err := strconv.ParseInt(string(code), 10, 64)
	if err != nil {
		return nil, errors.New(`the error's "code" is not an integer`)
	}
	message, ok := Text(text)
	if !ok {
		return nil, errors.New(`the error's "message" is not a string`)
	}
	return &Error{Code: n, Message: message, Data: data}, nil
}

// maxFaults bounds how many faults of one message are told apart.
const maxFaults = 8

// faults gathers what was wrong with parts of a whole.
type faults struct {
	list []error
	more int
}

func (f *faults) add(format string, args ...any) {
	if len(f.list) < maxFaults {
		f.list = append(f.list, fmt.Errorf(format, args...))
	} else {
		f.more++
	}
}

func (f *faults) err() error {
	if f.more > 0 {
		return errors.Join(append(f.list, fmt.Errorf("and %d more", f.more))...)
	}
	return errors.Join(f.list...)
}
