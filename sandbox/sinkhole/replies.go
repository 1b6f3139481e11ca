package sinkhole

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
	"golang.org/x/net/http/httpguts"
)

// The bounds on a file of replies.
const (
	maxReplyFile = 4 << 20
	maxReplies   = 4096
	maxFaults    = 20
)

// ReplyError is a fault of a file of replies.
type ReplyError struct {
	File         string
	Line, Column int // from 1; 0 for the file as a whole
	What, Hint   string
}

// Error implements error.
func (e *ReplyError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

//go:embed replies.yaml
var builtIn []byte

//go:embed services.yaml
var services []byte

// builtInReplies are the answers that come with the program and are the same in each
// turn, serviceReplies the others.
var (
	builtInReplies = sync.OnceValue(func() []Reply { return embedded("replies.yaml", builtIn) })
	serviceReplies = sync.OnceValue(func() []Reply { return embedded("services.yaml", services) })
)

func embedded(name string, data []byte) []Reply {
	replies, err := ParseReplies(name, data)
	if err != nil { // a test reads the file
		return nil
	}
	return replies
}

// ParseReplies reads a file of replies: YAML, with a list "replies" whose
// entries have host, path, query, method, status, headers and body, as Reply has them.
// file is its name in the errors, which are *ReplyError, joined, at most twenty.
// Of a file with an error nothing is returned.
func ParseReplies(file string, data []byte) (replies []Reply, err error) {
	r := &replyReader{file: file}
	defer func() {
		// A fault of the syntax library must not end a run.
		if f := recover(); f != nil {
			replies, err = nil, &ReplyError{File: file, What: fmt.Sprintf("cannot be read: %v", f)}
		}
	}()
	if len(data) > maxReplyFile {
		return nil, &ReplyError{File: file, What: fmt.Sprintf("is larger than %d bytes", maxReplyFile), Hint: "split it, or shorten the bodies"}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, syntaxError(file, err)
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
		replies = r.document(doc.Content[0])
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return replies, nil
}

func syntaxError(file string, err error) error {
	var fault *yaml.LoadError
	if !errors.As(err, &fault) {
		return &ReplyError{File: file, What: "is not YAML", Hint: "quote values that hold : # { or ["}
	}
	return &ReplyError{File: file, Line: fault.Mark.Line, Column: max(1, fault.Mark.Column), What: fault.Message, Hint: "quote values that hold : # { or ["}
}

type replyReader struct {
	file string
	errs []error
}

func (r *replyReader) fault(n *yaml.Node, hint, format string, a ...any) {
	if len(r.errs) < maxFaults {
		r.errs = append(r.errs, &ReplyError{File: r.file, Line: n.Line, Column: n.Column, What: fmt.Sprintf(format, a...), Hint: hint})
	}
}

func (r *replyReader) document(n *yaml.Node) (replies []Reply) {
	r.members(n, "the file", []string{"replies"}, func(_, list *yaml.Node) {
		switch {
		case list.ShortTag() == "!!null":
		case list.Kind != yaml.SequenceNode:
			r.fault(list, `begin each entry with "- "`, "replies must be a list")
		case len(list.Content) > maxReplies:
			r.fault(list, "use patterns for hosts and paths", "more than %d replies", maxReplies)
		default:
			for _, e := range list.Content {
				replies = append(replies, r.reply(e))
			}
		}
	})
	return replies
}

// members calls each with a mapping's members.
func (r *replyReader) members(n *yaml.Node, what string, known []string, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, "write it as lines of key: value", "%s must be a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		name := key.Value[:min(len(key.Value), 80)]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			r.fault(key, "write it out", "%s: aliases and merges are not read here", what)
		case seen[key.Value]:
			r.fault(key, "remove one of the two", "%s: %q appears here twice", what, name)
		case known != nil && !slices.Contains(known, key.Value):
			r.fault(key, "the keys are "+strings.Join(known, ", "), "%s: there is no key %q", what, name)
		default:
			seen[key.Value] = true
			each(key, n.Content[i+1])
		}
	}
}

func (r *replyReader) reply(n *yaml.Node) (p Reply) {
	r.members(n, "a reply", []string{"host", "path", "query", "method", "status", "headers", "body"}, func(key, v *yaml.Node) {
		switch key.Value {
		case "host":
			p.Host = canonical(r.pattern(v, "host"))
		case "path":
			p.Path = r.pattern(v, "path")
			if p.Path != "" && !strings.HasPrefix(p.Path, "/") && !strings.HasPrefix(p.Path, "*") {
				r.fault(v, "put / before it", "path %q does not begin with /", p.Path[:min(len(p.Path), 80)])
			}
		case "query":
			p.Query = r.text(v, "query")
			if name, _, ok := strings.Cut(p.Query, "="); p.Query != "" && (!ok || name == "") {
				r.fault(v, "write it as name=value", "query names no parameter")
			}
		case "method":
			p.Method = strings.ToUpper(r.pattern(v, "method"))
		case "status":
			status, err := strconv.Atoi(r.text(v, "status"))
			if err != nil || status < 200 || status > 599 {
				r.fault(v, "a number from 200 to 599", "status is not an HTTP status that ends an answer")
			}
			p.Status = status
		case "headers":
			p.Header = r.headers(v)
		case "body":
			p.Body = r.text(v, "body")
		}
	})
	return p
}

// text is a scalar's value.
func (r *replyReader) text(n *yaml.Node, what string) string {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.fault(n, "quote it, or write it as a block after |", "%s must be text", what)
	case n.ShortTag() == "!!null":
		return ""
	}
	return n.Value
}

func (r *replyReader) pattern(n *yaml.Node, what string) string {
	s := r.text(n, what)
	if _, err := path.Match(strings.TrimSuffix(s, "/**"), ""); err != nil {
		r.fault(n, `close the [, or write \[`, "%s is not a pattern", what)
	}
	return s
}

func (r *replyReader) headers(n *yaml.Node) map[string]string {
	h := map[string]string{}
	r.members(n, "headers", nil, func(key, v *yaml.Node) {
		name, value := http.CanonicalHeaderKey(key.Value), r.text(v, "a header")
		switch {
		case !httpguts.ValidHeaderFieldName(key.Value):
			r.fault(key, "letters, digits and - only", "%q is not a header's name", key.Value[:min(len(key.Value), 80)])
		case !httpguts.ValidHeaderFieldValue(value):
			r.fault(v, "keep it on one line", "the value of %s holds a control character", name)
		case name == "Content-Length" || name == "Transfer-Encoding" || name == "Connection":
			r.fault(key, "leave it out", "%s follows from the body", name)
		case h[name] != "":
			r.fault(key, "remove one of the two", "headers: %s appears here twice", name)
		default:
			h[name] = value
		}
	})
	return h
}
