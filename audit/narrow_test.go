package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The places at which a narrowed rule is tried are all at which it can match: random
// texts have the same hits with its expression run over the whole.
func TestNarrowedRulesMissNothing(t *testing.T) {
	s := scanner(t)
	parts := []string{
		"api_key", "Token", "PASSWORD", "auth", "key", "secret", "x", ".", "-", " ", "\t", "'", `"`, "`", "=", ":=", "=>", ":", "||", "?=", ",", ">", "\n", `\n`, ";", "(", "{",
		"q7Xk2LmW9vRz", "T4bNcYhPf3GjUoEiA1sB0d8Q", "plainword", "ab+cd/ef12gh34==", "s.", "hvs.", "ey", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
		strings.Repeat("q7Xk2LmW9vRz", 9), "é",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	found := map[string]int{}
	for range 20_000 {
		var b strings.Builder
		for range 3 + rng.IntN(12) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		src := b.String()
		got, err := s.scan(t.Context(), "x.js", src)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range s.piece(t.Context(), s.narrow, "source.js", src, 0) {
			if narrowed[h.what] == nil {
				continue
			}
			found[h.what]++
			if !slices.ContainsFunc(got, func(g secretHit) bool {
				return g.what == h.what && abs(g.offset-h.offset) < 80 || g.what != generic && h.offset < g.offset+g.length && g.offset < h.offset+h.length
			}) {
				t.Errorf("%s at %d of %q is missed: %v", h.what, h.offset, src, got)
			}
		}
	}
	for id := range narrowed {
		if found[id] == 0 {
			t.Errorf("%s was never found: the test shows nothing of it", id)
		}
	}
}

func abs(n int) int { return max(n, -n) }

// What finds the places of a rule was derived from its expression: another one wants another look.
func TestNarrowedRulesAreTheKnownOnes(t *testing.T) {
	s := scanner(t)
	for id, want := range map[string]string{
		"generic-api-key":     `(?i)[\w.-]{0,50}?(?:access|auth|(?-i:[Aa]pi|API)|credential|creds|key|passw(?:or)?d|secret|token)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}([\w.=-]{10,150}|[a-z0-9][a-z0-9+/]{11,}={0,3})(?:[\x60'"\s;]|\\[nr]|$)`,
		"vault-service-token": `\b((?:hvs\.[\w-]{90,120}|s\.(?i:[a-z0-9]{24})))(?:[\x60'"\s;]|\\[nr]|$)`,
		"jwt":                 `\b(ey[a-zA-Z0-9]{17,}\.ey[a-zA-Z0-9\/\\_-]{17,}\.(?:[a-zA-Z0-9\/\\_-]{10,}={0,2})?)(?:[\x60'"\s;]|\\[nr]|$)`,
	} {
		if got := fmt.Sprint(s.narrow.Config.Rules[id].Regex); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
	if list := s.narrow.Config.Rules["generic-api-key"].Allowlists; len(list) == 0 || len(list[0].Regexes) != 1 || list[0].Regexes[0].String() != `^[a-zA-Z_.-]+$` {
		t.Error("the generic rule allows other words than it did")
	}
}
