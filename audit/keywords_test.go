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
		run        int
	}{
		{`(?i)[\w.-]{0,50}?(?:linear)(?:[ \t]{0,20})=([a-f0-9]{32})`, []string{"linear"}, 50*4 + 24 + 20 + 4 + 32, true, 32},
		{`a(?:ccess|uth)x{2}`, []string{"access", "auth"}, 4 + 20 + 8, true, 0},
		{`a(?:ccess|uth|pi)x{2}`, []string{"access", "auth"}, 4 + 20 + 8, false, 0},
		{`key.*`, []string{"key"}, -1, true, 0},
		{`(?:key)?x`, []string{"key"}, 16, false, 0},
		{`[0-9]{4}`, []string{"key"}, 4, false, 0},
		{`key(?:[0-9]{9}|[a-f]{10,12})`, []string{"key"}, 24, true, 9},
	} {
		tree, err := syntax.Parse(c.expression, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n, holds, run := longest(tree), holdsOne(tree, c.words), runIn(tree); n != c.longest || holds != c.holds || run.least != c.run {
			t.Errorf("%s: %d %t %d", c.expression, n, holds, run.least)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	tree, err := syntax.Parse(`key(?:[0-9]{9}|[a-f]{10})`, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	run := runIn(tree)
	for s, want := range map[string]bool{"": false, "key 12345678": false, "key123456789": true, "12345678 abcdef": false, "1234abcde": true, "key": false} {
		if run.in(s) != want {
			t.Errorf("%q: %t", s, !want)
		}
	}
	if free := (charRun{}); !free.in("") || !free.in("x") {
		t.Error("an expression without a run needs one")
	}
}

// TestMostRulesAreNearby keeps an update of the rules from making every search a slow one.
func TestMostRulesAreNearby(t *testing.T) {
	s := scanner(t)
	if n := len(s.near.Config.Rules); n < 180 {
		t.Errorf("of the rules only %d are searched around their words", n)
	}
}
