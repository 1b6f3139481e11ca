package session

import (
	"reflect"
	"strings"
)

// Words are the words of a log's own format that are long enough to be taken for
// a passed value: keys, kinds and names. A log could not be read without them.
func Words() []string {
	out := strings.Fields(formatWords)
	seen := map[reflect.Type]bool{}
	for _, line := range []any{headerLine{}, recordLine{}, flowLine{}, markLine{}, eventLine{}, Injection{}, Dialled{}, Inputs{}, Index{}} {
		out = appendNames(out, reflect.TypeOf(line), seen)
	}
	for _, k := range gapKinds {
		out = append(out, string(k.Code))
	}
	return out
}

// formatWords are those that no type names: of frames, of marks and of events.
const formatWords = `
schema_version frame raw jsonrpc method params result error message initialize notifications initialized cancelled
progress progressToken tools resources prompts completion completions arguments content structuredContent isError
protocolVersion clientInfo serverInfo capabilities instructions inputSchema outputSchema annotations description
readOnlyHint destructiveHint idempotentHint openWorldHint listChanged subscribe templates sampling elicitation roots
logging server/discover discover nextCursor cursor version object string number integer boolean array properties
required additionalProperties glassport.metrics frames_seen frames_blocked session_duration_s log_bytes
header record phase call planned from return bad-line event stderr stdout stdin inconclusive reached inputs crash timeout iserror
cancelled handshake shutdown resource prompt tool build start list idle started access tracer-died outlived synced
passed [passed] inet inet6 unix netlink openat openat2 execve execveat connect sendto sendmsg socket fork vfork clone
clone3 signal rename renameat unlink unlinkat symlink`

// appendNames appends the keys that the JSON form of a type has.
func appendNames(out []string, t reflect.Type, seen map[reflect.Type]bool) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return out
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		out = appendNames(append(out, name), f.Type, seen)
	}
	return out
}
