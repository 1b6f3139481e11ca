package analyze

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

const (
	// codeURLRequired is URLElicitationRequiredError (MCP 2025-11-25, client/elicitation): its data lists pages that the
	// user is to open before the request is made again.
	codeURLRequired = -32042
	// maxAddress bounds the addresses that are read.
	maxAddress = 4 << 10
)

// pages notes the pages that an answer asks the user to open: those of an error, or of requests in the place of a result
// (MCP 2026-07-28).
func (w *wireReader) pages(seq uint64, m *wire.Message) {
	if m.Error != nil && m.Error.Code == codeURLRequired {
		list, _ := wire.Member(m.Error.Data, "elicitations")
		wire.WalkArray(list, func(_ int, e []byte) { w.page(seq, e) })
	}
	detect.EachAsked(m.Result, detect.MethodElicit, func(params []byte) { w.page(seq, params) })
	detect.EachAsked(m.Result, detect.MethodSample, func([]byte) { w.sampled(seq) })
}

// sampled notes a request to the client's model.
func (w *wireReader) sampled(seq uint64) {
	if len(w.facts.Samplings) < maxFacts {
		w.facts.Samplings = append(w.facts.Samplings, w.fact(seq, detect.MethodSample))
	}
}

// page notes the address of an elicitation in URL mode.
func (w *wireReader) page(seq uint64, elicitation []byte) {
	address := member(elicitation, "url")
	if member(elicitation, "mode") != "url" || address == "" || len(w.facts.Openings) >= maxFacts {
		return
	}
	w.opening(rules.Opening{Fact: w.fact(seq, address)})
}

var (
	pageAddress = lazyregexp.New(`https?://[^\s"'<>()\[\]{}|\\]{4,500}`)
	// signInOrder asks a person to sign in, or to give what proves who they are.
	signInOrder = lazyregexp.New(`(?i)\b(?:sign|log) ?in\b|\bre-?authenticate\b|\b(?:enter|type|submit|provide|confirm|verify|validate|renew)\b[^.!?\n]{0,60}\b(?:code|password|passcode|passphrase|pin|identity|account|credentials?|card|seed phrase|recovery phrase)\b`)
)

const (
	// aroundPage is how near to a page's address the order to sign in there stands, in bytes.
	aroundPage = 240
	// maxPages bounds the addresses of one text that are looked at, and maxPageText the text.
	maxPages    = 20
	maxPageText = 64 << 10
)

// signIns notes the pages at which the text of a result asks somebody to sign in, or to enter a code or a password.
func (w *wireReader) signIns(seq uint64, result []byte) {
	if !bytes.Contains(result, []byte("http")) {
		return
	}
	detect.EachSaid(result, func(_, s string) {
		for _, page := range detect.Once(w.known, "sign-ins", s, signInPages) {
			w.opening(rules.Opening{Fact: w.fact(seq, page), SignsIn: true, Texts: []uint64{maphash.String(textSeed, s)}})
		}
	})
}

// signInPages are the addresses in a text beside which it orders somebody to sign in.
func signInPages(s string) (out []string) {
	s = s[:min(len(s), maxPageText)]
	for _, at := range pageAddress.FindAllStringIndex(s, maxPages) {
		before, after := s[max(0, at[0]-aroundPage):at[0]], s[at[1]:min(len(s), at[1]+aroundPage)]
		if signInOrder.MatchString(before) || signInOrder.MatchString(after) {
			out = append(out, strings.TrimRight(s[at[0]:at[1]], ".,;:!?"))
		}
	}
	return out
}

// textSeed is that of the sums that tell equal texts of a session.
var textSeed = maphash.MakeSeed()

// maxAlike bounds the different texts of one page that are counted.
const maxAlike = 64

// opening keeps a page of a tool once, with the texts that have it.
func (w *wireReader) opening(o rules.Opening) {
	i := slices.IndexFunc(w.facts.Openings, func(e rules.Opening) bool { return e.Tool == o.Tool && e.Text == o.Text })
	if i < 0 {
		if len(w.facts.Openings) < maxFacts {
			w.facts.Openings = append(w.facts.Openings, o)
		}
		return
	}
	for _, sum := range o.Texts {
		if known := &w.facts.Openings[i].Texts; len(*known) < maxAlike && !slices.Contains(*known, sum) {
			*known = append(*known, sum)
		}
	}
}

// offered notes the files of this machine to which a result links, or which it says it holds.
func (w *wireReader) offered(seq uint64, result []byte) {
	if !bytes.Contains(result, []byte("file:")) {
		return
	}
	content, _ := wire.Member(result, "content")
	wire.WalkArray(content, func(_ int, part []byte) {
		uri := member(part, "uri")
		if resource, ok := wire.Member(part, "resource"); ok && uri == "" {
			uri = member(resource, "uri")
		}
		if !strings.HasPrefix(uri, "file:") || len(w.facts.Offered) >= maxFacts {
			return
		}
		f := w.fact(seq, uri)
		if !slices.ContainsFunc(w.facts.Offered, func(e rules.Fact) bool { return e.Tool == f.Tool && e.Text == f.Text }) {
			w.facts.Offered = append(w.facts.Offered, f)
		}
	})
}

// member is the text of an object's member, "" for none or one that is too long.
func member(object []byte, name string) string {
	raw, _ := wire.Member(object, name)
	s, _ := wire.Text(raw)
	if len(s) > maxAddress {
		return ""
	}
	return s
}
