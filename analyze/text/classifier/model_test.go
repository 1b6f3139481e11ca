package classifier

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "train anew, and write weights.bin")

// sentence is a line of testdata: its language, and the text.
type sentence struct{ language, text string }

func read(t *testing.T, names ...string) (out []sentence) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
			if len(fields) < 2 {
				t.Fatalf("%s: %q has no tab", name, line)
			}
			out = append(out, sentence{fields[0], fields[len(fields)-1]})
		}
	}
	return out
}

// packageText is a text of a public package.
type packageText struct {
	Package string `json:"package"`
	Text    string `json:"text"`
	// Document says that it stands in a document, which no model is shown.
	Document bool `json:"document"`
}

// background are the texts of public packages that texts.py has collected: those to train
// with, and those of other packages to count false alarms in.
func background(t *testing.T, file string) (training, held []packageText) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p packageText
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		h := fnv.New32a()
		h.Write([]byte(p.Package))
		if h.Sum32()%2 == 0 {
			training = append(training, p)
		} else {
			held = append(held, p)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return training, held
}

// cost is what an error in a text of a package costs, orderCost in an order. All harmless sentences of a
// language cost as much as all its orders, so that no language is a sign of orders.
const (
	cost      = 1
	orderCost = 4
)

// literal is a string of a Python or JavaScript source.
var literal = regexp.MustCompile("\"((?:[^\"\\\\\n]|\\\\.){25,})\"|'((?:[^'\\\\\n]|\\\\.){25,})'|`((?:[^`\\\\]|\\\\.){25,})`")

// everyday are the strings of the honest servers of testdata/verdicts, of the half that may be seen.
func everyday(t *testing.T) (out []string) {
	t.Helper()
	root := filepath.Join("..", "..", "..", "testdata", "verdicts", "quiet")
	sources, err := filepath.Glob(filepath.Join(root, "*", "server.*"))
	if err != nil || len(sources) == 0 {
		t.Fatal(sources, err)
	}
	for _, source := range sources {
		name := filepath.Base(filepath.Dir(source))
		about, err := os.ReadFile(filepath.Join(root, name, "case.json"))
		if err != nil {
			t.Fatal(err)
		}
		if isSeen := sha256.Sum256([]byte(name))[0]&1 == 0; !isSeen && !strings.Contains(string(about), `"opened": true`) {
			continue
		}
		b, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range literal.FindAllStringSubmatch(string(b), -1) {
			if s := m[1] + m[2] + m[3]; strings.Contains(s, " ") {
				out = append(out, s)
			}
		}
	}
	return out
}

// most bounds the windows of packages in the training.
const most = 120000

// costs are what an error in a harmless sentence costs, by its language.
func costs(orders, honest []sentence) map[string]float64 {
	n, m := map[string]float64{}, map[string]float64{}
	for _, s := range orders {
		n[s.language]++
	}
	for _, s := range honest {
		m[s.language]++
	}
	out := map[string]float64{}
	for language := range m {
		out[language] = max(orderCost*n[language]/m[language], cost)
	}
	return out
}

func TestTraining(t *testing.T) {
	if !*update {
		t.Skip("-update trains")
	}
	texts := os.Getenv("COALMINE_TEXTS")
	if texts == "" {
		t.Fatal("COALMINE_TEXTS names no file of texts: see README.md")
	}
	training, held := background(t, texts)
	var examples []example
	orders, honest := read(t, "orders.tsv"), read(t, "honest.tsv")
	balance := costs(orders, honest)
	b := &bag{}
	whole := func(s string) []feature {
		var parts []part
		from := 0
		for _, end := range sentences(s) {
			parts, from = append(parts, partOf(s[from:end])), end
		}
		return b.features(nil, parts)
	}
	for _, s := range orders {
		examples = append(examples, example{whole(s.text), true, orderCost})
	}
	for _, s := range honest {
		eachWindow(s.text, func(_ string, parts []part) {
			examples = append(examples, example{b.features(nil, parts), false, balance[s.language]})
		})
		examples = append(examples, example{whole(s.text), false, balance[s.language]})
	}
	for _, s := range everyday(t) {
		eachWindow(s, func(_ string, parts []part) {
			examples = append(examples, example{b.features(nil, parts), false, orderCost})
		})
	}
	seen := map[string]bool{}
	var others [][]part
	for _, p := range training {
		eachWindow(p.Text, func(w string, parts []part) {
			if !seen[w] {
				seen[w] = true
				others = append(others, parts)
			}
		})
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(others), func(i, k int) { others[i], others[k] = others[k], others[i] })
	for _, parts := range others[:min(most, len(others))] {
		examples = append(examples, example{b.features(nil, parts), false, cost})
	}
	m := train(examples)
	file := m.encode()
	m, err := decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("weights.bin", file, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("trained with %d examples", len(examples))
	report(t, m, held)
}

// report logs what a model makes of the held texts, beside how many packages it is loud about then.
func report(t *testing.T, m *model, held []packageText) {
	orders, honest := read(t, "orders-held.tsv"), read(t, "honest-held.tsv")
	var found []Window
	of := map[string]string{}
	all := map[string]bool{}
	for _, p := range held {
		if p.Document {
			continue
		}
		all[p.Package] = true
		if w := m.most(p.Text); of[w.Text] == "" {
			of[w.Text] = p.Package
			found = append(found, w)
		}
	}
	slices.SortFunc(found, func(a, b Window) int { return cmp.Compare(b.Score, a.Score) })
	loud := map[string]bool{}
	for i, w := range found {
		if i < 25 {
			t.Logf("%.2f %s: %.200q", w.Score, of[w.Text], w.Text)
		}
		if n := len(loud); !loud[of[w.Text]] && n > 0 && n&(n-1) == 0 {
			t.Logf("from %.2f: %d of %d packages, %d of %d texts, orders %d of %d, honest sentences %d of %d", w.Score, n, len(all), i, len(found),
				m.count(orders, w.Score), len(orders), m.count(honest, w.Score), len(honest))
		}
		loud[of[w.Text]] = true
	}
}

// count is how many sentences score at least so much.
func (m *model) count(list []sentence, least float64) (n int) {
	for _, s := range list {
		if m.most(s.text).Score >= least {
			n++
		}
	}
	return n
}

// Of orders and honest sentences that were not trained with, so many are found. They were written
// by others than those of the training, and neither half was read while the model was made.
func TestHeldSentences(t *testing.T) {
	m := trained()
	orders, honest := read(t, "orders-held.tsv"), read(t, "honest-held.tsv")
	found, loud := m.count(orders, Likely), m.count(honest, Likely)
	t.Logf("found %d of %d orders, and %d of %d honest sentences", found, len(orders), loud, len(honest))
	if found < 59 || loud > 2 {
		t.Errorf("found %d of %d orders, and %d of %d honest sentences", found, len(orders), loud, len(honest))
	}
}
