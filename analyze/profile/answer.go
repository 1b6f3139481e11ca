package profile

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Answer stands for the answer to a call.
type Answer struct {
	// Sum is that of the result.
	Sum [sha256.Size]byte
	// Text is what it says where that is one short text, "" else.
	Text string
	// Failed says that the answer is an error.
	Failed bool
	// Said is the beginning of the result.
	Said string
}

// maxSaid bounds what is kept of a result.
const maxSaid = 1 << 10

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
	b.out.Answers[call] = Answer{Sum: sha256.Sum256(result), Text: shortText(result), Failed: failed, Said: clip(string(result), maxSaid)}
}

// maxAnswerText bounds the text of an answer that is kept, in bytes.
const maxAnswerText = 256

// shortText is the text of a result that has no other content, "" for none and for a long one.
func shortText(result []byte) string {
	if len(result) > 8*maxAnswerText {
		return ""
	}
	var r struct {
		Content []struct{ Type, Text string } `json:"content"`
	}
	if json.Unmarshal(result, &r) != nil || len(r.Content) != 1 || r.Content[0].Type != "text" || len(r.Content[0].Text) > maxAnswerText {
		return ""
	}
	return r.Content[0].Text
}
