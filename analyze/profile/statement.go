package profile

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// HitStatement is how a text shows that became a part of a statement outside of its quotes.
const HitStatement = "statement"

// maxStatement bounds what is quoted of a statement, in bytes.
const maxStatement = 200

// statement takes what a service was told and what came of it.
func (b *Builder) statement(f *flow, e *trace.Flow) {
	s := e.Statement
	if s == nil {
		return
	}
	what := strings.TrimSpace(s.Verb + " " + s.Object)
	said := clip(b.find.Redact(s.Text), maxStatement)
	text := "told " + e.Service + ": " + said
	switch {
	case s.Refused:
		text += " (refused)"
	case s.Undone:
		text += " (rolled back)"
	}
	effect := b.origin(f, s.Time)
	b.injected(f, s, effect.Call, text)
	if s.Undone {
		return
	}
	effect.Kind, effect.Target, effect.Host, effect.Via = finding.Statement, clip(b.find.Redact(e.Service+": "+what), maxStatement), e.Service, e.Service
	effect.Told, effect.Rung = s, finding.RungOpened
	if s.Refused {
		effect.Rung = finding.RungAttempted
	}
	effect.Evidence = []finding.Evidence{b.flowSays(f, s.Time, text)}
	b.add(effect)
}

// leastPiece is how much of a token has to stand in a statement: half of one is as unlikely to be
// there by chance as any random word of seven letters.
const leastPiece = 7

// injected looks for the tokens of a call's inputs in a statement outside of quotes and comments.
// Some inputs hold a token in two halves.
func (b *Builder) injected(f *flow, s *trace.Statement, call int, text string) {
	bare := strings.ToLower(s.Bare)
	for _, in := range b.oracles.byCall[call] {
		if len(in.Token) < leastPiece || !strings.Contains(bare, in.Token[:leastPiece]) {
			continue
		}
		in.Oracle = session.OracleStatement
		b.addHit(Hit{Call: call, Injection: in, How: HitStatement, Target: f.known.Service, Evidence: b.flowSays(f, s.Time, text)})
	}
}

// ofRow reports whether a canary is one that stands in a service's row: that it goes to a service
// and into files is what rows are for.
func (b *Builder) ofRow(id string) bool { return b.kinds[id] == canaries.KindRow }
