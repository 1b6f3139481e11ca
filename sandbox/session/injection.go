package session

import "strings"

// The oracles of an Injection.
const (
	OracleCommand   = "command"   // a shell runs what the argument holds
	OracleArgument  = "argument"  // a program takes the argument for an option
	OraclePath      = "path"      // a path leads out of the server's root
	OracleFetch     = "fetch"     // an address is asked for that the caller chose
	OracleCode      = "code"      // an interpreter or a loader runs what the argument holds
	OracleTool      = "tool"      // a tool that was never declared
	OracleControl   = "control"   // a tool that no server can have: how it refuses
	OracleStatement = "statement" // a service takes what the argument holds for a part of a statement
	OraclePrototype = "prototype" // a key that changes every object
	OracleServed    = "served"    // a document that the sinkhole serves is run, followed or repeated
	OracleTenant    = "tenant"    // one tenant gets what another has stored; the context is whose it is
	OracleAssign    = "assign"    // a member that no schema declares is kept; the context is its name and the tool
	OracleEntity    = "entity"    // an XML document names a file or an address that its parser is to take in
	OracleSignature = "signature" // a text without the right signature is taken for a signed one
	OracleOptOut    = "opt-out"   // data is sent or kept after the user turned that off; the context is what was turned off
	OracleCipher    = "cipher"    // what a tool encrypts is not hidden by it
	OracleLine      = "line"      // a line break in a value begins another field
	OracleArchive   = "archive"   // an archive has a member that leads out of the directory it is unpacked into
)

// What a served document carries: the contexts of OracleServed.
const (
	ServedLine  = "command"     // of a shell
	ServedCode  = "code"        // of Python and JavaScript
	ServedLink  = "link"        // to a public host
	ServedInner = "link within" // to a private network
	ServedOrder = "word for a model"
)

// The contexts of OraclePrototype that ask for what a changed prototype lends, and for what none can.
const (
	PrototypeInherited = "inherited"
	PrototypeControl   = "control"
)

// The contexts of OracleSignature for a text as it was signed, and for one that nobody could take for it.
const (
	SignatureGenuine = "as signed"
	SignatureNone    = "no signed text"
)

// Injection is what an oracle put into a call, and the effect that would prove
// that the server fell for it. That an answer echoes the input proves nothing.
type Injection struct {
	Oracle string `json:"oracle"`
	// Context names the variant: "semicolon", "dot-dot", "jinja" …
	Context string `json:"context"`
	// At is the JSON pointer of the place in the arguments, "" for the tool's name.
	At string `json:"at,omitempty"`
	// Token names what the effect makes or asks for. Drawn for this call alone.
	Token string `json:"token,omitempty"`
	// Path is the file outside the root that is aimed at, without its suffix;
	// Value is what stands in it and nowhere else. Without a path, Value is what the
	// server answers where the input had its effect, and no input holds it.
	Path  string `json:"path,omitempty"`
	Value string `json:"value,omitempty"`
	// Text is what served documents say around the token, as far as it is ours.
	Text string `json:"text,omitempty"`
	// Host is the address or name aimed at; on loopback, where nothing answers,
	// Port is the token's own.
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	// Undeclared says that the tool declares no argument of this name.
	Undeclared bool `json:"undeclared,omitempty"`
}

var escapes, unescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// EscapePointer is a member's name as it stands in a JSON pointer (RFC 6901).
func EscapePointer(name string) string { return escapes.Replace(name) }

// UnescapePointer is the name of a part of a JSON pointer.
func UnescapePointer(part string) string { return unescapes.Replace(part) }
