package analyze

import (
	"encoding/json"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// refusal is what an error said, and the arguments that it answered.
type refusal struct {
	text string
	args json.RawMessage
}

var (
	// ofValidation are refusals of what was sent, whatever they speak of in detail.
	ofValidation = lazyregexp.New(`(?i)\binvalid[ _](?:arguments?|parameters?|params|inputs?|type)\b|\bvalidation (?:error|failed)|-32602\b`)
	// ofOddInput are refusals of characters that only a test sends.
	ofOddInput = lazyregexp.New(`(?i)\bnull (?:byte|char)|\bNUL\b|\\u0000|\\x00|\x00|control characters?|invalid (?:utf-?8|unicode)|surrogate`)
	// telemetry are hosts to which programs report about themselves: no tool needs them.
	telemetry = lazyregexp.New(`(?i)(?:^|[.-])(?:telemetry|analytics|metrics|stats|tracking|posthog|sentry|segment|amplitude|mixpanel|scarf|bugsnag|datadoghq|google-analytics|googletagmanager|applicationinsights|honeycomb|rudderstack|heapanalytics|statsig|launchdarkly)(?:[.-]|$)`)
	// reserved are the hosts that our own inputs name (RFC 2606).
	reserved = lazyregexp.New(`(?i)(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid)$`)
)

// ownWords are what a refusal must not be taken by for a need: the arguments that it
// answered, the tool's parameters, and the server's own command.
type ownWords struct {
	values, params, command []string
}

func (j *judge) ownWords(tool *wire.Tool, args json.RawMessage) ownWords {
	o := ownWords{values: argumentTexts(args)}
	var schema struct{ Properties map[string]json.RawMessage }
	if tool != nil && json.Unmarshal(tool.InputSchema, &schema) == nil {
		for name := range schema.Properties {
			o.params = append(o.params, name)
		}
	}
	for _, w := range j.header.Command {
		o.command = append(o.command, path.Base(w), strings.TrimSuffix(path.Base(w), path.Ext(w)))
	}
	if p := j.header.Package; p != nil {
		o.command = append(o.command, path.Base(p.Name))
	}
	return o
}

// argumentTexts are the texts among arguments that are long enough to be told from others.
func argumentTexts(args json.RawMessage) (out []string) {
	var v any
	if json.Unmarshal(args, &v) == nil {
		texts(v, 0, func(s string) {
			if len(s) > 2 {
				out = append(out, s)
			}
		})
	}
	return out
}

// texts hands out the strings of a JSON value.
func texts(v any, depth int, out func(string)) {
	const most = 16
	switch v := v.(type) {
	case string:
		out(v)
	case []any:
		for _, e := range v[:min(len(v), most)] {
			if depth < most {
				texts(e, depth+1, out)
			}
		}
	case map[string]any:
		for _, e := range v {
			if depth < most {
				texts(e, depth+1, out)
			}
		}
	}
}

// explains reports whether a line that seems to ask for something speaks of what was sent:
// it quotes a value, or names a parameter and no variable.
func (o *ownWords) explains(n *Need, line string) bool {
	if variable.MatchString(line) && n.What != NeedProgram {
		return false
	}
	if slices.ContainsFunc(o.values, func(v string) bool { return strings.Contains(line, v) }) {
		return true
	}
	return n.What != NeedProgram && n.What != NeedDevice && slices.ContainsFunc(o.params, func(p string) bool { return len(p) > 1 && hasWord(line, p) })
}

// hasWord reports whether a line has a name that is no part of a longer one.
func hasWord(line, name string) bool {
	for rest := line; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		if !endsInWord(before) && !beginsWord(after) {
			return true
		}
		rest = after
	}
}

func endsInWord(s string) bool { return s != "" && isWord(s[len(s)-1]) }
func beginsWord(s string) bool { return s != "" && isWord(s[0]) }
func isWord(c byte) bool       { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
func isOwnPeer(peer string) bool {
	return reserved.MatchString(hostOf(peer)) || telemetry.MatchString(hostOf(peer))
}

func hostOf(peer string) string {
	if host, _, err := net.SplitHostPort(peer); err == nil {
		return host
	}
	return peer
}

// localTelemetry are ports to which programs report about themselves: StatsD, Datadog,
// OpenTelemetry, Zipkin and Jaeger.
var localTelemetry = []string{"8125", "8126", "4317", "4318", "9411", "14268", "6831"}

// localService names a port of the loopback address as a user knows it.
func localService(port string) string {
	if p := scope.ProgramAt(port); p.Name != "" {
		return fmt.Sprintf("localhost:%s (%s)", port, p.Name)
	}
	return "localhost:" + port
}

// realServices are those that coalmine can run beside a server, by the port that they listen on.
var realServices = map[string]string{"3306": "mariadb", "5432": "postgres", "6379": "redis"}

// serviceFlag is the flag that runs the service which a peer's name speaks of, "" for none: one on this
// machine, or at a name of one label, as setups of containers have it.
func serviceFlag(peer string) string {
	peer, _, _ = strings.Cut(peer, " ")
	host, port, err := net.SplitHostPort(peer)
	if err != nil || strings.Contains(host, ".") || realServices[port] == "" {
		return ""
	}
	return "--service " + realServices[port]
}

// remedy names what gives the server what it lacks, "" where the code's own remedy says it.
func (n *Need) remedy() string {
	if len(n.Names) == 0 {
		return ""
	}
	first := n.Names[0]
	switch {
	case n.What == NeedProgram && strings.HasSuffix(first, "]"):
		return "Probe pypi:" + first + " if that is the server's own package, or an image that has it (--image)."
	case n.What == NeedCredential || n.What == NeedConfiguration && variable.MatchString(first):
		return "--env " + first + "=VALUE passes a dummy value."
	case n.What == NeedConfiguration && strings.HasPrefix(first, "<"):
		return "Pass " + strings.Join(n.Names, " ") + " after --."
	case n.What == NeedConfiguration:
		return "Pass a file of this kind after --, and show it to the server with --show PATH."
	case n.What == NeedService && serviceFlag(first) != "":
		return serviceFlag(first) + " runs a real one beside the server, with rows that are decoys."
	case n.What == NeedService && strings.HasPrefix(first, "localhost:"):
		return "--network loopback has the sinkhole answer on " + strings.TrimPrefix(first, "localhost:") + ", and --replies FILE says what."
	}
	return ""
}
