package profile

import (
	"crypto/sha256"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Answer stands for the answer to a call.
type Answer struct {
	// Sum is that of the result.
	Sum [sha256.Size]byte
	// Failed says that the answer is an error.
	Failed bool
}

// answers keeps the answer that a frame holds.
func (b *Builder) answers(call int, raw []byte) {
	if !b.ctx.Answers || call == 0 || len(b.out.Answers) >= maxEffects {
		return
	}
	result, ok := wire.Member(raw, "result")
	_, failed := wire.Member(raw, "error")
	if !ok && !failed {
		return
	}
	if said, there := wire.Member(result, "isError"); there && string(said) == "true" {
		failed = true
	}
	if b.out.Answers == nil {
		b.out.Answers = map[int]Answer{}
	}
	b.out.Answers[call] = Answer{sha256.Sum256(result), failed}
}
