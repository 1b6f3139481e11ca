package synth

import (
	"maps"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// maxCipherCalls bounds the calls that encrypt, and cipherTime their time.
	maxCipherCalls = 16
	cipherTime     = 6 * time.Second
)

var (
	// encrypts is how a tool says that it does.
	encrypts = lazyregexp.New(`(?i)\b(?:encrypts?|enciphers?|ciphers?|seals?|locks? (?:a|the) text|AES|ChaCha\w*|vault)\b`)
	// decrypts is the name of one that does the opposite.
	decrypts = lazyregexp.New(`(?i)^(?:de(?:crypt|cipher)|un(?:seal|lock)|open|read|get|list|show)`)
	// plainArgument is the name of an argument that holds what is encrypted.
	plainArgument = lazyregexp.New(`(?i)^(?:.*[_-])?(?:text|plaintext|message|content|contents|data|note|secret|value|body|payload|input)$`)
)

// ciphers has each tool that encrypts a text encrypt two under one key: texts of equal blocks, whose encryption shows
// whether the text, its blocks or the key stream can be told.
func (d *driver) ciphers() {
	s := d.bounded(maxCipherCalls, cipherTime)
	for _, t := range order(d.tools) {
		args, ok := membersOf(t.base)
		if !ok || !encrypts.MatchString(t.spoken()) || decrypts.MatchString(t.name) {
			continue
		}
		others := maps.Clone(args)
		delete(others, argumentLike(args, keyName)) // which may be called a secret, as what is encrypted may
		name := argumentLike(others, plainArgument)
		if name == "" {
			continue
		}
		for _, text := range oracle.Plaintexts() {
			s.callWith(t, args, name, text, session.Injection{Oracle: session.OracleCipher, Context: "blocks of 16 bytes", Text: text})
		}
	}
}
