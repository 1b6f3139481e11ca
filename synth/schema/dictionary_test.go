package schema

import (
	"fmt"
	"slices"
	"testing"
)

// The ids of a thing are found under all names that end in it, in their order, and what the rest of a full dictionary
// holds costs nothing.
func TestThingsOfADictionary(t *testing.T) {
	y := &Dictionary{}
	for i := range maxLearnedKeys - 4 {
		y.Add(fmt.Sprint("other key ", i), "value-1")
	}
	for _, add := range [][2]string{{"session", "s-1"}, {"web session", "w-1"}, {"big web session", "b-1"}, {"obsession", "o-1"}} {
		y.Add(add[0], add[1])
	}
	if got, want := y.things([]string{"session", "id"}), []string{"b-1", "s-1", "w-1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { y.things([]string{"ticket", "id"}) }); n > 1 {
		t.Errorf("%v allocations where there is nothing", n)
	}
}
