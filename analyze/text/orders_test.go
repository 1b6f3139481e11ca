package text

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// sentences are those of a file of testdata, without its comments.
func sentences(t *testing.T, name string) (out []string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	if err := lines.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%d sentences: %v", len(out), err)
	}
	return out
}

// Orders in twelve languages are found: testdata/orders.txt says which of them were at hand.
func TestOrders(t *testing.T) {
	found, all := map[string]int{}, map[string]int{}
	for _, line := range sentences(t, "orders.txt") {
		part := strings.SplitN(line, "\t", 3)
		all[part[1]]++
		if HasOrder(part[2]) {
			found[part[1]]++
		} else {
			t.Logf("passed over: %s", line)
		}
	}
	t.Logf("found %v of %v", found, all)
	if found["seen"] < all["seen"] || found["held"] < 50 || found["late"] < 22 {
		t.Errorf("found %v of %v", found, all)
	}
}

// What honest servers write stays quiet.
func TestHonestSentences(t *testing.T) {
	list := sentences(t, "honest.txt")
	if len(list) < 60 {
		t.Errorf("%d sentences", len(list))
	}
	for _, s := range append(list, strings.Join(list, "\n")) {
		for _, h := range Scan(s) {
			t.Errorf("%.80q: %+v", s, h)
		}
	}
}
