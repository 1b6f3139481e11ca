package scope

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/text/gloss"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Claim is one thing said, with the words that said it.
type Claim struct {
	// Where is "annotation", "name", "title", "description", "schema", "instructions"
	// or a file beside the server ("package.json").
	Where string `json:"where"`
	// Text is the hint's name and value, or the phrase of the description.
	Text string `json:"text"`
}

// Tool is what one tool declares. A nil hint is absent: the specification's
// default describes it to a client, and accuses nobody.
type Tool struct {
	Name        string `json:"name"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
	// Local are claims that no network is used.
	Local []Claim `json:"local,omitempty"`
	// Network are declarations that it is.
	Network []Claim `json:"network,omitempty"`
	// Exec are declarations that programs are run.
	Exec []Claim `json:"exec,omitempty"`
	// Environment are declarations that environment variables are returned.
	Environment []Claim `json:"environment,omitempty"`
	// Write and Delete are declarations that something is changed or removed.
	Write  []Claim `json:"write,omitempty"`
	Delete []Claim `json:"delete,omitempty"`
	// Paths, URLs and Commands are the names of arguments that carry such; one
	// within another is named by its path ("filter.file").
	Paths    []string `json:"paths,omitempty"`
	URLs     []string `json:"urls,omitempty"`
	Commands []string `json:"commands,omitempty"`
	// Confined are promises to stay in some directory.
	Confined []Claim `json:"confined,omitempty"`
	// Outward are promises to ask no machine within.
	Outward []Claim `json:"outward,omitempty"`
	// Shell and Code are declarations that whatever is handed over is run.
	Shell []Claim `json:"shell,omitempty"`
	Code  []Claim `json:"code,omitempty"`
	// Outputs are those of Paths to which, as they say, something is saved.
	Outputs []string `json:"-"`
	// Listed are arguments whose schema lists the values that they may have.
	Listed []string `json:"-"`
	// Options are arguments that carry a program's options.
	Options []string `json:"options,omitempty"`
	// Arguments are all arguments; one within another is named by its path.
	Arguments []Argument `json:"-"`
	// words are all words of the declaration, lower case, and shown those of them that a client
	// shows: a file beside the server says the others.
	words, shown map[string]bool
}

// Argument is what a schema says of an argument.
type Argument struct {
	Name string
	// Text is its title and its description.
	Text string
	// Default is the text that it has where a call leaves it out, "" for none.
	Default string
}

// Server is what a whole surface declares.
type Server struct {
	Tools []Tool `json:"tools"`
	// Purpose is the server's own title and instructions, judged like a description,
	// and what the files beside it say.
	Purpose Tool `json:"purpose"`
	// Hosts are the only ones that a list of permissions lets the server reach, and
	// Offline says that such a list lets it reach none.
	Hosts   []Claim `json:"hosts,omitempty"`
	Offline []Claim `json:"offline,omitempty"`
	// Variables are those of the environment that a manifest says the server reads.
	Variables []Variable `json:"variables,omitempty"`
}

// Of reads a surface's scope.
func Of(s *wire.Surface) Server {
	out := Server{Tools: make([]Tool, 0, len(s.Tools))}
	for i := range s.Tools {
		out.Tools = append(out.Tools, OfTool(&s.Tools[i]))
	}
	// That it is a server says nothing of a network.
	name := func(text string) string { return serverWord.ReplaceAllString(fold(text), " ") }
	own := set(words(s.Server.Name + " the " + s.Server.Title)...)
	out.Purpose = ofText(s.Server.Name, "name", name(s.Server.Name), "title", name(s.Server.Title), "instructions", withoutSelf(gloss.WithEnglish(s.Instructions), own))
	out.Purpose.say(s.Server.Name + " " + s.Server.Title)
	return out
}

// Tool finds a tool's scope by name; a name that was never declared has an empty one.
func (s *Server) Tool(name string) Tool {
	if i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return s.Tools[i]
	}
	return Tool{Name: name}
}

// OfTool reads one tool's scope.
func OfTool(t *wire.Tool) Tool {
	out := ofText(t.Name, "name", t.Name, "title", withoutSelf(gloss.WithEnglish(t.Title), nil), "description", withoutSelf(gloss.WithEnglish(t.Description), nil))
	if a := t.Annotations; a != nil {
		out.ReadOnly, out.Destructive, out.Idempotent, out.OpenWorld = a.ReadOnly, a.Destructive, a.Idempotent, a.OpenWorld
	}
	if isFalse(out.OpenWorld) {
		out.Local = append(out.Local, Claim{"annotation", "openWorldHint=false"})
	}
	if isTrue(out.OpenWorld) {
		out.Network = append(out.Network, Claim{"annotation", "openWorldHint=true"})
	}
	if isFalse(out.ReadOnly) {
		out.Write = append(out.Write, Claim{"annotation", "readOnlyHint=false"})
	}
	// By the specification the hint means something only where readOnlyHint is not true.
	if isTrue(out.Destructive) && !isTrue(out.ReadOnly) {
		out.Delete = append(out.Delete, Claim{"annotation", "destructiveHint=true"})
	}
	out.readSchema(t.InputSchema)
	return out
}

// ClaimsLocal reports whether the declaration rules a network out. A tool that
// claims both, as in "offline cache of a URL", rules nothing out. A file that no client shows
// takes no promise back.
func (t *Tool) ClaimsLocal() bool {
	return len(t.Local) > 0 && len(t.URLs) == 0 && (!AnyShown(t.Network) || isFalse(t.OpenWorld))
}

// AnyShown reports whether a client shows one of some claims: the others stand in files beside the server.
func AnyShown(claims []Claim) bool {
	return slices.ContainsFunc(claims, func(c Claim) bool { return shownPlaces[c.Where] })
}

// shownPlaces are those of Claim.Where that a client shows.
var shownPlaces = set("annotation", "name", "title", "description", "schema", "instructions")

// ClaimsReadOnly reports readOnlyHint=true.
func (t *Tool) ClaimsReadOnly() bool { return isTrue(t.ReadOnly) }

// ClaimsHarmless reports that destruction is ruled out: by readOnlyHint=true,
// or by destructiveHint=false, which means something only where readOnlyHint is not true.
func (t *Tool) ClaimsHarmless() bool { return isTrue(t.ReadOnly) || isFalse(t.Destructive) }

// The words by which a tool declares to end the server: one of each.
var (
	endWords   = set("shutdown", "shut", "shuts", "stop", "stops", "exit", "exits", "quit", "quits", "end", "ends", "terminate", "terminates", "restart", "restarts", "reboot", "reboots", "reload", "reloads", "kill", "kills", "close", "closes")
	endedWords = set("server", "process", "itself", "service", "shutdown", "daemon", "program", "session")
)

// DeclaresEnd reports whether the declaration says that the server is ended or started again.
func (t *Tool) DeclaresEnd() bool {
	return hasAny(slices.Collect(maps.Keys(t.words)), endWords) && hasAny(slices.Collect(maps.Keys(t.words)), endedWords)
}

// SaysChange reports whether a sentence declares to change or to remove something.
func SaysChange(sentence string) bool {
	return len(find(writePhrases, "", sentence)) > 0 || len(find(deletePhrases, "", sentence)) > 0
}

// Says reports whether the declaration holds the word (any case, whole), or a file beside the server.
func (t *Tool) Says(word string) bool { return t.words[strings.ToLower(word)] }

// Shows reports whether what a client shows of the declaration holds the word (any case, whole).
func (t *Tool) Shows(word string) bool { return t.shown[strings.ToLower(word)] }

func isTrue(b *bool) bool  { return b != nil && *b }
func isFalse(b *bool) bool { return b != nil && !*b }

// ofText reads a scope from pairs of place and text.
func ofText(name string, pairs ...string) Tool {
	out := Tool{Name: name, words: map[string]bool{}, shown: map[string]bool{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		where, text := pairs[i], pairs[i+1]
		if len(text) > maxText {
			text = text[:maxText]
		}
		out.say(text)
		out.Local = append(out.Local, find(localPhrases, where, text)...)
		out.Network = append(out.Network, find(networkPhrases, where, text)...)
		out.Exec = append(out.Exec, find(execPhrases, where, text)...)
		out.Environment = append(out.Environment, find(environmentPhrases, where, text)...)
		if !anyPath(text) {
			out.Confined = append(out.Confined, find(confinedPhrases, where, text)...)
		}
		out.Outward = append(out.Outward, find(outwardPhrases, where, text)...)
		out.Shell = append(out.Shell, find(shellPhrases, where, text)...)
		out.Code = append(out.Code, find(codePhrases, where, text)...)
		out.Write = append(out.Write, find(writePhrases, where, text)...)
		out.Delete = append(out.Delete, find(deletePhrases, where, text)...)
	}
	return out
}

// anyPath reports whether a sentence of a text says that a path may lead anywhere: "relative to the working
// directory, or absolute". One that refuses such paths says otherwise.
func anyPath(text string) bool {
	for s := range strings.SplitSeq(strings.ReplaceAll(fold(text), "..", "parents"), ". ") {
		if len(find(anyPathPhrases, "", s)) > 0 && len(find(refusalPhrases, "", s)) == 0 {
			return true
		}
	}
	return false
}

// say takes in the words of a text: those of identifiers ("listPods") and those that are
// written with capitals within ("GitHub").
func (t *Tool) say(text string) {
	for _, list := range [][]string{words(text), words(strings.ToLower(text))} {
		for _, w := range list {
			t.words[w], t.shown[w] = true, true
		}
	}
}

// property is the part of a JSON Schema that gives an argument its meaning.
type property struct {
	Format      string            `json:"format"`
	Enum        []json.RawMessage `json:"enum"`
	Default     json.RawMessage   `json:"default"`
	Description string            `json:"description"`
	Title       string            `json:"title"`
}

// maxDeep bounds how deep a schema is read for arguments within arguments.
const maxDeep = 6

// readSchema finds arguments that name paths, URLs and commands. What does not
// parse declares nothing.
func (t *Tool) readSchema(schema json.RawMessage) { t.readProperties("", schema, 0) }

// readProperties reads the properties of an object, of an array's items and of
// alternatives. One within another is named by its path ("filter.file").
func (t *Tool) readProperties(parent string, schema json.RawMessage, depth int) {
	var s struct {
		Properties          map[string]json.RawMessage `json:"properties"`
		Items               json.RawMessage            `json:"items"`
		AnyOf, OneOf, AllOf []json.RawMessage
	}
	if depth > maxDeep || json.Unmarshal(schema, &s) != nil {
		return
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.readProperty(parent, name, s.Properties[name])
		t.readProperties(parent+name+".", s.Properties[name], depth+1)
	}
	for _, branch := range slices.Concat([]json.RawMessage{s.Items}, s.AnyOf, s.OneOf, s.AllOf) {
		if len(branch) > 0 {
			t.readProperties(parent, branch, depth+1)
		}
	}
}

func (t *Tool) readProperty(parent, name string, schema json.RawMessage) {
	var p property
	// A property that is no object (true, a reference list) keeps its name's meaning.
	_ = json.Unmarshal(schema, &p)
	p.Title, p.Description = gloss.WithEnglish(p.Title), gloss.WithEnglish(p.Description)
	ws := words(name)
	at := parent + name
	switch {
	case p.Format == "uri" || p.Format == "iri" || p.Format == "uri-reference" || hasAny(ws, urlNames), isAddress(p.Title), isAddress(p.Description):
		t.URLs = add(t.URLs, at)
		t.Network = append(t.Network, Claim{"schema", at})
	case hasAny(ws, commandNames):
		t.Commands = add(t.Commands, at)
		t.Exec = append(t.Exec, Claim{"schema", at})
	case hasAny(ws, pathNames), hasAny(words(p.Description+" "+p.Title), placeWords), pathExample.MatchString(p.Description):
		t.Paths = add(t.Paths, at)
		if hasAny(words(p.Description+" "+p.Title), savingWords) {
			t.Outputs = add(t.Outputs, at)
		}
	}
	if len(p.Enum) > 0 {
		t.Listed = add(t.Listed, at)
	}
	if hasAny(ws, optionNames) {
		t.Options = add(t.Options, at)
	}
	about := Argument{Name: at, Text: strings.TrimSpace(p.Title + ". " + p.Description)}
	_ = json.Unmarshal(p.Default, &about.Default) // a default that is no text is none here
	t.Arguments = append(t.Arguments, about)
	// "In the working directory, the home directory or …" confines to neither.
	if !strings.Contains(strings.ToLower(p.Description), "home directory") && !anyPath(p.Description) {
		t.Confined = append(t.Confined, find(confinedPhrases, "schema", p.Description)...)
	}
	t.say(p.Description + " " + p.Title)
}

// isAddress reports whether a text begins with a noun for an address in a network, as "Address
// of the feed" and "The broker's host name" do. "Text with links" does not.
func isAddress(text string) bool {
	if i := strings.IndexAny(text, ",.;:(/"); i >= 0 {
		text = text[:i]
	}
	noun := words(text)
	if i := slices.IndexFunc(noun, func(w string) bool { return phraseEnds[w] }); i >= 0 {
		noun = noun[:i]
	}
	if len(noun) == 0 || len(noun) > maxNounPhrase {
		return false
	}
	head, before := noun[len(noun)-1], ""
	if len(noun) > 1 {
		before = noun[len(noun)-2]
	}
	return addressNouns[head] && !otherAddresses[before] || head == "name" && (before == "host" || before == "domain")
}

func add(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

func hasAny(ws []string, set map[string]bool) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return set[w] })
}
