package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// maxSignatureCalls bounds the calls that make signed texts and have them verified, and signatureTime their time.
	maxSignatureCalls = 40
	signatureTime     = 8 * time.Second
	// maxSigners bounds the tools whose signatures one tool is to verify.
	maxSigners = 3
	// signingKey is the key, wherever one is an argument.
	signingKey = "blue-otter-quiet-lamp"
)

var (
	// verifies is how a tool says that it checks a signature.
	verifies = lazyregexp.New(`(?i)\b(?:verif(?:y|ies|ied)|validates?|checks?|authenticates?|accepts?|redeems?|opens?)\b`)
	// ofSignatures are words for what is signed, and for the signature.
	ofSignatures = lazyregexp.New(`(?i)\b(?:signatures?|signed|tokens?|jwts?|h?macs?|tamper\w*|forge\w*|authentic\w*|licen[cs]e keys?|vouchers?|webhooks?)\b`)
	// signs is how a tool says that it makes one.
	signs = lazyregexp.New(`(?i)\b(?:signs?|makes?|creates?|issues?|mints?|generates?|computes?)\b`)
	// signedName is the name of an argument that holds a signed text, or a signature.
	signedName = lazyregexp.New(`(?i)^(?:.*[_-])?(?:token|jwt|sig|signature|h?mac|seal|ticket|licen[cs]e|voucher|coupon|signed|cookie|mark|tag)(?:[_-]key)?$`)
	// keyName is the name of one that holds the key.
	keyName = lazyregexp.New(`(?i)^(?:.*[_-])?(?:key|secret|passphrase|password)$`)
)

// signatures asks each tool that verifies a signature to accept what is not signed (CWE-347): a token that another tool
// of the server made, or one of our own where the key is an argument, and forms of it without the right signature.
func (d *driver) signatures() {
	s, tools := d.bounded(maxSignatureCalls, signatureTime), order(d.tools)
	for _, v := range tools {
		args, ok := membersOf(v.base)
		if said := v.spoken(); !ok || !verifies.MatchString(said) || !ofSignatures.MatchString(said) {
			continue
		}
		name := argumentLike(args, signedName)
		if name == "" {
			continue
		}
		if key := argumentLike(args, keyName); key != "" {
			args[key] = signingKey
			s.verify(v, args, name, oracle.JWT(signingKey))
		}
		signers := slices.DeleteFunc(slices.Clone(tools), func(t *target) bool {
			return t == v || t.base == nil || !signs.MatchString(t.spoken()) || !ofSignatures.MatchString(t.spoken())
		})
		for _, m := range signers[:min(len(signers), maxSigners)] {
			s.verifyOf(m, v, name)
		}
	}
}

// spoken is a tool's name and description in words.
func (t *target) spoken() string {
	return strings.ReplaceAll(t.name, "_", " ") + " " + t.decl.Description
}

// argumentLike is the first text among arguments whose name is like that, "" for none.
func argumentLike(args map[string]any, like *lazyregexp.Regexp) string {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, isText := args[name].(string); isText && like.MatchString(name) {
			return name
		}
	}
	return ""
}

// verifyOf has a tool verify what another one signs, under the same key and of the same text.
func (s *sequence) verifyOf(m, v *target, name string) {
	signing, _ := membersOf(m.base)
	if key := argumentLike(signing, keyName); key != "" {
		signing[key] = signingKey
	}
	raw, err := json.Marshal(signing)
	if err != nil {
		return
	}
	before := m.answered
	m.answered = ""
	s.forget()
	s.make(m, raw)
	signed := s.made[plainName(name)]
	if signed == "" {
		signed = strings.TrimSpace(m.answered)
	}
	if m.answered == "" {
		m.answered = before
	}
	args, _ := membersOf(v.base)
	for shared := range args {
		if same, has := signing[shared]; has {
			args[shared] = same
		}
	}
	if !strings.ContainsAny(signed, " \n\t") {
		s.verify(v, args, name, signed)
	}
}

// verify gives a tool a signed text, and what is not signed in its place.
func (s *sequence) verify(v *target, args map[string]any, name, signed string) {
	for _, in := range oracle.Signatures(signed) {
		s.callWith(v, args, name, in.Text, in.Injection)
	}
}
