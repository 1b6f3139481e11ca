package oracle

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// hiddenTools are names that a server may serve without declaring them.
var hiddenTools = []string{
	"debug", "admin", "exec", "eval", "shell", "run_command", "execute", "execute_command", "system", "test", "internal", "_debug", "__debug__",
	"read_file", "write_file", "dump", "config", "get_config", "env", "constructor", "toString", "__proto__", "valueOf", "hasOwnProperty",
}

// HiddenTools are the tools to call though nobody declared them: first one that
// no server can have, which shows how it refuses, then likely names and the
// words given that are not declared.
func HiddenTools(seed int64, declared, words []string) []string {
	out := []string{Token(seed, "no tool", 0)}
	for _, name := range slices.Concat(hiddenTools, words) {
		if !slices.Contains(declared, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// HiddenTool is the injection of a call of one of them; the first is the control.
func HiddenTool(k int) session.Injection {
	if k == 0 {
		return session.Injection{Oracle: session.OracleControl, Context: "no such tool"}
	}
	return session.Injection{Oracle: session.OracleTool, Context: "undeclared tool"}
}

// hiddenArguments are names that a tool may read without declaring them, each
// with the oracle and context that its value carries.
var hiddenArguments = []struct {
	name, oracle, context string
}{
	{"command", session.OracleCommand, "whole"}, {"cmd", session.OracleCommand, "whole"}, {"exec", session.OracleCommand, "whole"},
	{"shell", session.OracleCommand, "whole"}, {"debug", session.OracleCommand, "whole"}, {"run", session.OracleCommand, "whole"},
	{"eval", session.OracleCode, "JavaScript"}, {"code", session.OracleCode, "JavaScript"}, {"expr", session.OracleCode, "Python"}, {"python", session.OracleCode, "Python"},
	{"file", session.OraclePath, "absolute"}, {"path", session.OraclePath, "absolute"}, {"filename", session.OraclePath, "absolute"},
	{"url", session.OracleFetch, "name"}, {"callback", session.OracleFetch, "name"}, {"webhook", session.OracleFetch, "name"},
	{"output", session.OraclePath, "new file, absolute"}, {"config", session.OraclePath, "absolute"}, {"include", session.OraclePath, "absolute"},
}

// Extra is args with undeclared members beside the declared ones, and what each
// carries; ok is false where args are no object.
func Extra(args json.RawMessage, w *World, words []string, token func(n int) string) (out json.RawMessage, in []session.Injection, ok bool) {
	v, _ := decode(args)
	object, ok := v.(map[string]any)
	if !ok {
		return nil, nil, false
	}
	list := hiddenArguments
	for _, word := range words {
		list = append(list[:len(list):len(list)], struct{ name, oracle, context string }{word, session.OracleCommand, "whole"})
	}
	for n, h := range list {
		if _, there := object[h.name]; there {
			continue
		}
		for _, v := range variants {
			if v.oracle != h.oracle || v.context != h.context {
				continue
			}
			t := token(n)
			text, aim := v.make(w, t)
			object[h.name] = text
			i := v.injection(t, aim)
			i.At, i.Undeclared = "/"+session.EscapePointer(h.name), true
			in = append(in, i)
		}
	}
	out, ok = encode(object)
	return out, in, ok
}

// Prototype is args with a member, or a way in a text, that changes every object of a server
// which merges or sets without care, and what it carries.
func Prototype(args json.RawMessage, k int, token string) (out json.RawMessage, in session.Injection, ok bool) {
	v, _ := decode(args)
	object, ok := v.(map[string]any)
	if !ok || k >= Prototypes {
		return nil, in, false
	}
	change := map[string]any{"title": token, "description": token}
	in = session.Injection{Oracle: session.OraclePrototype, Token: token, Undeclared: true}
	switch k {
	case 0:
		object["__proto__"] = change
		in.Context, in.At = "__proto__", "/__proto__"
	case 1:
		object["constructor"] = map[string]any{"prototype": change}
		in.Context, in.At = "constructor.prototype", "/constructor"
	default:
		in.Context = prototypePaths[k-memberPrototypes]
		name, found := setAlong(object, in.Context, token)
		if !found {
			return nil, in, false
		}
		in.At, in.Undeclared = "/"+session.EscapePointer(name), false
	}
	out, ok = encode(object)
	return out, in, ok
}

// dotted is a way through nested objects, as lodash's set takes it.
var dotted = regexp.MustCompile(`^[A-Za-z_$][\w$-]{0,60}(\.[\w$-]{1,60}){1,8}$`)

// ways are names of arguments that take such a way.
var ways = []string{"path", "key", "property", "prop", "field", "setting", "option"}

// setAlong puts a way into the member that takes one, and the text into all other texts. It
// says which member; found is false where there is none, or nothing to set.
func setAlong(object map[string]any, way, text string) (name string, found bool) {
	name, texts := wayIn(object)
	if name == "" || len(texts) < 2 {
		return "", false
	}
	for _, n := range texts {
		object[n] = text
	}
	object[name] = way
	return name, true
}

// wayIn is the member of an object that takes a way, "" for none, and all members that are texts.
func wayIn(object map[string]any) (name string, texts []string) {
	for _, n := range keys(object) {
		v, ok := object[n].(string)
		if !ok {
			continue
		}
		texts = append(texts, n)
		if name == "" && (dotted.MatchString(v) || slices.Contains(ways, strings.ToLower(n))) {
			name = n
		}
	}
	return name, texts
}

// Inherited is args with a way to a member that an object has from its prototype alone, where a call of Prototype
// changed that, and the text that it then leads to. control is the same with a member that no object has.
func Inherited(args json.RawMessage, token string) (out, control json.RawMessage, in session.Injection, ok bool) {
	v, _ := decode(args)
	object, ok := v.(map[string]any)
	if !ok {
		return nil, nil, in, false
	}
	name, texts := wayIn(object)
	if name == "" || len(texts) > 1 { // with more texts than the way it sets something
		return nil, nil, in, false
	}
	parent := "toString." // which every object has
	if was, _ := object[name].(string); dotted.MatchString(was) {
		parent = was[:strings.LastIndexByte(was, '.')+1]
	}
	in = session.Injection{Oracle: session.OraclePrototype, Context: session.PrototypeInherited, At: "/" + session.EscapePointer(name), Value: token}
	object[name] = parent + "title"
	if out, ok = encode(object); !ok {
		return nil, nil, in, false
	}
	object[name] = parent + "qqq"
	control, ok = encode(object)
	return out, control, in, ok
}

// prototypePaths lead to the prototype by names.
var prototypePaths = [...]string{"__proto__.title", "constructor.prototype.title"}

// memberPrototypes is how many ways lead there by a member of the arguments.
const memberPrototypes = 2

// Prototypes is how many ways Prototype knows.
const Prototypes = memberPrototypes + len(prototypePaths)
