package wire

import (
	"encoding/json"
	"errors"
)

// Envelope is one JSON-RPC message whose members stay where they stand in the
// bytes that were read: valid as long as those are. Which version it claims and
// whether its members go together is for the reader to judge; Parse is strict.
type Envelope struct {
	// These are raw values, nil when absent; Version is the member "jsonrpc".
	Version, ID, Method, Params, Result, Error json.RawMessage
}

// errNoObject is Read's answer to a value that is no object.
var errNoObject = errors.New("not an object")

// Read fills e from one checked-as-it-goes JSON object. Of a member that is
// given twice the last one counts, as most readers have it.
func (e *Envelope) Read(obj []byte) error {
	*e = Envelope{}
	s := scanner{data: obj}
	if s.space(); s.peek() != '{' {
		return errNoObject
	}
	if err := s.walk(func(key, value []byte) {
		switch string(key) {
		case "jsonrpc":
			e.Version = value
		case "id":
			e.ID = value
		case "method":
			e.Method = value
		case "params":
			e.Params = value
		case "result":
			e.Result = value
		case "error":
			e.Error = value
		}
	}); err != nil {
		*e = Envelope{}
		return err
	}
	if s.space(); s.pos < len(obj) {
		*e = Envelope{}
		return s.fail("data after the value")
	}
	return nil
}

// Walk calls f with each member of an object in their order, the key without
// its quotes and escapes. Keys and values are parts of obj where they can be.
// It checks what it passes, and reports whether obj was an object of valid JSON;
// f has then seen all of it, otherwise perhaps a part.
func Walk(obj []byte, f func(key, value []byte)) bool {
	s := scanner{data: obj}
	if s.space(); s.peek() != '{' {
		return false
	}
	return s.walk(f) == nil
}

// WalkArray is Walk for an array's elements.
func WalkArray(arr []byte, f func(i int, value []byte)) bool {
	s := scanner{data: arr}
	if s.space(); s.peek() != '[' {
		return false
	}
	s.depth++
	s.pos++
	return s.items(f) == nil
}

// walk reads an object from its opening brace and passes its closing one.
func (s *scanner) walk(f func(key, value []byte)) error {
	s.depth++
	s.pos++
	err := s.pairs(f)
	s.depth--
	return err
}
