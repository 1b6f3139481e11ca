package detect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The kinds of an Annotation.
const (
	Hallucination = "hallucination"
	Divergence    = "divergence"
	Anomaly       = "anomaly"
	Info          = "info"
)

// toolUse is the category of what concerns the use of a tool.
const toolUse = "tool_use"

// Annotator names this program in annotations.
const Annotator = "coalmine.detect"

// Annotation is one observation about one event, in glassport's form.
type Annotation struct {
	// ID and EventID are the same for the same log, whoever reads it.
	ID      string `json:"id"`
	EventID string `json:"event_id"`
	// Kind is Hallucination, Divergence, Anomaly or Info.
	Kind string `json:"kind"`
	// Category is "tool_use" or nil.
	Category *string `json:"category"`
	// Subcategory names what was found: "fabricated_tool_call" …
	Subcategory string `json:"subcategory"`
	// Severity is 1 worth a look, 2 should not happen, 3 hostile or
	// hallucinated unless proven otherwise.
	Severity    int    `json:"severity"`
	Explanation string `json:"explanation"`
	Annotator   string `json:"annotator"`
	// Metadata has "seq" and what else names the thing; texts in it are printable.
	Metadata map[string]any `json:"metadata"`
	// Line is the log's line, from 1; 0 for none.
	Line int `json:"-"`
	// Changes are the differences that a "surface_change" is about, of the first
	// MaxChanges of the session. A secret in a tool's name is redacted.
	Changes []wire.Change `json:"-"`
	// Identity is what a fingerprint hashes in place of Explanation, whose words may
	// change; "" where the metadata says enough.
	Identity string `json:"-"`
	// Quoted says that the order that was found stands within quotation marks.
	Quoted bool `json:"-"`
	// Given says that what was found is a text that the call had given.
	Given bool `json:"-"`
	// Declared is where a text stands that a declaration holds, nil for none.
	Declared *Declared `json:"-"`
}

// Declared is a place in what a server declares.
type Declared struct {
	Owner Owner
	// Place is the member of the owner's entry, Words what stands there.
	Place, Words string
}

// Owner is what a declaration is about.
type Owner struct {
	// Kind is one of the Owner constants.
	Kind OwnerKind
	// Name is as the server gave it, "" for the server.
	Name string
}

// OwnerKind is the kind of an Owner.
type OwnerKind string

// The kinds. The zero value is OwnerServer.
const (
	OwnerServer   OwnerKind = ""
	OwnerTool     OwnerKind = "tool"
	OwnerResource OwnerKind = "resource"
	OwnerTemplate OwnerKind = "template"
	OwnerPrompt   OwnerKind = "prompt"
)

// Speaks reports whether it is the server, or the tool of a name that is not "".
func (o Owner) Speaks(tool string) bool {
	return o.Kind == OwnerServer || o.Kind == OwnerTool && tool != "" && o.Name == tool
}

func (o Owner) String() string {
	if o.Kind == OwnerServer {
		return "the server"
	}
	return string(o.Kind) + " “" + o.Name + "”"
}

// MaxChanges bounds the different changes that are told of one session.
const MaxChanges = 100

// Seq is the frame's number, 0 for none.
func (a *Annotation) Seq() uint64 {
	n, _ := a.Metadata["seq"].(uint64)
	return n
}

// Tool is the tool concerned, "" for none.
func (a *Annotation) Tool() string {
	s, _ := a.Metadata["tool"].(string)
	return s
}

// Host is the host concerned, "" for none.
func (a *Annotation) Host() string {
	s, _ := a.Metadata["host"].(string)
	return s
}

// Verdict is glassport's word for the worst of what was found.
type Verdict string

// The verdicts.
const (
	Clean        Verdict = "CLEAN"
	WorthALook   Verdict = "WORTH A LOOK"
	ShouldNot    Verdict = "SHOULD NOT HAPPEN"
	HostileOrNot Verdict = "HOSTILE OR HALLUCINATED"
)

// VerdictOf is the verdict on annotations; Info never counts.
func VerdictOf(as []Annotation) Verdict {
	worst := 0
	for i := range as {
		if as[i].Kind != Info {
			worst = max(worst, as[i].Severity)
		}
	}
	return [...]Verdict{Clean, WorthALook, ShouldNot, HostileOrNot}[min(worst, 3)]
}

// eventID names an event of a log.
func eventID(e *wirelog.Event) string {
	return "evt_" + digest(fmt.Sprintf("%d/%s/%d/%d", e.Seq, e.Dir, e.Part, e.Line))
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// name makes a text of the wire fit to be shown: printable and at most 120 bytes.
func name(s string) string { return text.Printable(s, 120) }

// quoted is name in quotes.
func quoted(s string) string { return "“" + name(s) + "”" }

// namesOf makes a list of names fit to be shown.
func namesOf(list []string) []string {
	out := make([]string, 0, min(len(list), maxNames))
	for _, s := range list[:min(len(list), maxNames)] {
		out = append(out, name(s))
	}
	return out
}

// maxNames bounds the names in one annotation.
const maxNames = 100
