package synth

import (
	"encoding/json"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// maxSoftError is how long a text may be that is read as an error by its first words.
const maxSoftError = 4 << 10

// softStart is how a text begins that a handler returned in place of an error.
var softStart = lazyregexp.New(`^(?i)[^\pL\pN\[{"]*(?:error\b|(?:\w+ ){1,3}error(?::| occurred| while| during)|(?:failed|failure|invalid|missing|unknown|unsupported|unable to|cannot|can't|could not|couldn't|exception|traceback|no such|not found|please (?:provide|specify))\b)`)

// isSoftError reports whether an answer is no error by its form and says that it is one, as
// "Error: unknown channel" and {"success": false, "error": "unknown channel"}: many handlers catch
// what goes wrong, and return it.
func isSoftError(r client.Result) bool {
	if len(r.Raw) == 0 || len(r.Raw) > maxResultText {
		return false
	}
	var result struct {
		Content []struct{ Type, Text string }
	}
	if json.Unmarshal(r.Raw, &result) != nil || len(result.Content) == 0 || result.Content[0].Type != "text" {
		return false
	}
	text := strings.TrimSpace(result.Content[0].Text)
	if strings.HasPrefix(text, "{") {
		return saysError([]byte(text))
	}
	return len(text) <= maxSoftError && softStart.MatchString(text)
}

// saysError reports whether a JSON object says by one of its members that it tells of an error.
func saysError(object []byte) bool {
	var o struct {
		Success, OK           *bool
		Status, Error, Result json.RawMessage
	}
	if json.Unmarshal(object, &o) != nil {
		return false
	}
	if o.Success != nil && !*o.Success || o.OK != nil && !*o.OK {
		return true
	}
	switch strings.ToLower(string(o.Status)) {
	case `"error"`, `"failed"`, `"failure"`:
		return true
	}
	said := len(o.Error) > 2 && (o.Error[0] == '"' || o.Error[0] == '{') // more than an empty text or object
	return said && len(o.Result) == 0
}
