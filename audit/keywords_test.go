package audit

import (
	"regexp/syntax"
	"testing"
)

func TestReach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression string
		words      []string
		longest    int
		holds      bool
	}{
		{`(?i)[\w.-]{0,50}?(?:linear)(?:[ \t]{0,20})=([a-f0-9]{32})`, []string{"linear"}, 50*4 + 24 + 20 + 4 + 32, true},
		{`a(?:ccess|uth)x{2}`, []string{"access", "auth"}, 4 + 20 + 8, true},
		{`a(?:ccess|uth|pi)x{2}`, []string{"access", "auth"}, 4 + 20 + 8, false},
		{`key.*`, []string{"key"}, -1, true},
		{`(?:key)?x`, []string{"key"}, 16, false},
		{`[0-9]{4}`, []string{"key"}, 4, false},
	} {
		tree, err := syntax.Parse(c.expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n, holds := longest(tree), holdsOne(tree, c.words); n != c.longest || holds != c.holds {
			t.Errorf("%s: %d %t", c.expression, n, holds)
		}
	}
}

// TestMostRulesAreNearby keeps an update of the rules from making every search a slow one.
func TestMostRulesAreNearby(t *testing.T) {
	s := scanner(t)
	if n := len(s.near.Config.Rules); n < 180 {
		t.Errorf("of the rules only %d are searched around their words", n)
	}
}
