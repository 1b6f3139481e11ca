package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// What two readers of the same bytes may take for different things.
var (
	errReturn = errors.New("a carriage return within the line")
	errFolded = errors.New("a member's name in another case")
)

// The members that say what a message is, and what is called and declared.
var (
	envelopeMembers = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	paramsMembers   = []string{"name", "arguments", "cursor"}
	resultMembers   = []string{"tools", "nextCursor", "instructions"}
	toolMembers     = append([]string{"name"}, wire.PinnedMembers...)
)

// read is wire.Parse that also refuses what some peer reads in another way than
// the gate does: some readers end a line at a lone carriage return, and some
// take "Method" for "method". The messages are given even then.
func (s *Session) read(raw []byte) ([]wire.Message, error) {
	messages, err := wire.Parse(raw)
	if err != nil {
		return nil, err
	}
	if s.lines && bytes.IndexByte(bytes.TrimRight(raw, "\r\n"), '\r') >= 0 {
		return nil, errReturn
	}
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); trimmed[0] == '[' {
		wire.WalkArray(trimmed, func(_ int, v []byte) {
			if folded(v, envelopeMembers) {
				err = errFolded
			}
		})
	} else if folded(trimmed, envelopeMembers) {
		err = errFolded
	}
	for _, m := range messages {
		if folded(m.Params, paramsMembers) || folded(m.Result, resultMembers) {
			err = errFolded
		}
		tools, _ := member(m.Result, "tools")
		wire.WalkArray(tools, func(_ int, v []byte) {
			if folded(v, toolMembers) {
				err = errFolded
			}
		})
	}
	return messages, err
}

// folded reports whether an object has a member whose name is one of names but for its case.
func folded(obj json.RawMessage, names []string) (found bool) {
	wire.EachMember(obj, func(key string, _ json.RawMessage) {
		found = found || !slices.Contains(names, key) && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, key) })
	})
	return found
}

// member is wire.Member of a value that has been checked.
func member(obj json.RawMessage, name string) (value json.RawMessage, ok bool) {
	wire.EachMember(obj, func(key string, v json.RawMessage) {
		if key == name {
			value, ok = v, true
		}
	})
	return value, ok
}
