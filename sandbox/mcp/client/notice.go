package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kind says what a Notice is about.
type Kind string

// The kinds of a Notice.
const (
	BadLine       Kind = "bad-line"       // a line that is no message
	Oversize      Kind = "oversize-line"  // a line longer than MaxLine, not parsed
	UnknownID     Kind = "unknown-id"     // an answer to a request that was never sent
	NullID        Kind = "null-id"        // an answer or a request whose id is null
	DuplicateID   Kind = "duplicate-id"   // a second answer to one request
	LateAnswer    Kind = "late-answer"    // an answer after its time-out
	ChangedID     Kind = "changed-id"     // an id echoed as another type, accepted
	Answered      Kind = "answered"       // a server's request that was answered
	Declined      Kind = "declined"       // a server's request that was declined
	InputRequired Kind = "input-required" // a result that asks for input, not given
	BadResult     Kind = "bad-result"     // a result or an entry of another shape than the protocol's
	ListCut       Kind = "list-cut"       // a list that was left at a bound
	Unsent        Kind = "unsent"         // a reply that could not be sent
	Handshake     Kind = "handshake"      // a handshake that was irregular, yet usable
)

// maxNotices bounds the notices kept of each kind; the rest are only counted.
const maxNotices = 100

// maxQuoted is the longest text of a server's that a notice repeats. Longer
// ones are left out whole: half a secret could not be recognised any more.
const maxQuoted = 128

// Notice is one thing about the wire that was not as it should be, or that a
// judge may want to know. Text may hold a server's words, quoted and bounded.
type Notice struct {
	Kind Kind
	Text string
	Time time.Time
}

// Counters say how often things happened, however many notices were kept.
type Counters struct {
	Progress         int64 // notifications/progress
	Logging          int64 // notifications/message
	ToolsChanged     int64 // notifications/tools/list_changed
	ResourcesChanged int64
	PromptsChanged   int64
	ResourceUpdated  int64
	Cancelled        int64
	OtherNotices     int64 // notifications of any other method
	// Notices counts every notice, kept or not.
	Notices map[Kind]int64
}

// Notices returns what was noticed so far, in order; of each kind the first
// hundred. Counters has the whole numbers.
func (c *Client) Notices() []Notice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notices)
}

// Counters returns the numbers so far.
func (c *Client) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.counts
	n.Notices = maps.Clone(n.Notices)
	return n
}

// notice records one; c.mu is held.
func (c *Client) notice(kind Kind, format string, args ...any) {
	c.counts.Notices[kind]++
	if c.counts.Notices[kind] <= maxNotices {
		c.notices = append(c.notices, Notice{Kind: kind, Text: fmt.Sprintf(format, args...), Time: time.Now()})
	}
}

// note is notice for callers that do not hold c.mu.
func (c *Client) note(kind Kind, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notice(kind, format, args...)
}

// quoted makes a server's text fit for a notice.
func quoted[T ~string | ~[]byte](s T) string {
	if len(s) > maxQuoted {
		return fmt.Sprintf("(%d bytes)", len(s))
	}
	return fmt.Sprintf("%q", string(s))
}

// count counts a notification; c.mu is held.
func (c *Client) count(method string) {
	n := &c.counts
	switch name, _ := strings.CutPrefix(method, "notifications/"); name {
	case "progress":
		n.Progress++
	case "message":
		n.Logging++
	case "tools/list_changed":
		n.ToolsChanged++
	case "resources/list_changed":
		n.ResourcesChanged++
	case "prompts/list_changed":
		n.PromptsChanged++
	case "resources/updated":
		n.ResourceUpdated++
	case "cancelled":
		n.Cancelled++
	default:
		n.OtherNotices++
	}
}
