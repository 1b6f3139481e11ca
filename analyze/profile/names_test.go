package profile

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The letters of a name count where it carries base64, and do not where it is compared.
func TestNamesKeepTheirLetters(t *testing.T) {
	b := builder()
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "send", Time: time.Second})
	text := base64.RawURLEncoding.EncodeToString([]byte(kept))
	for i, part := range []string{text[:14], text[14:]} {
		b.Flow(&trace.Flow{Type: trace.FlowQuery, Flow: 1, App: "dns", Method: "A", Host: fmt.Sprintf("%d.%s.Evil.Example.ORG", i, part), Stamp: 2 * time.Second})
	}
	sent := leftIn(b)
	if len(sent) != 1 || sent[0].Target != "ssh-key" || sent[0].Host != "example.org" {
		t.Errorf("%+v", sent)
	}
	for _, e := range b.Profile().Effects {
		if e.Kind == finding.NetConnect && e.Host != strings.ToLower(e.Host) {
			t.Errorf("the name %q is not in lower case", e.Host)
		}
	}
}
