package experiment

import "testing"

func TestCount(t *testing.T) {
	t.Parallel()
	var none *Count
	none.begin()()
	c := new(Count)
	first := c.begin()
	if c.String() != "" {
		t.Errorf("one run: %s", c)
	}
	first()
	second, third := c.begin(), c.begin()
	if c.String() != "runs: 1 done, 2 left" {
		t.Errorf("%s", c)
	}
	second()
	third()
	if c.String() != "runs: 3 done, 0 left" {
		t.Errorf("%s", c)
	}
}
