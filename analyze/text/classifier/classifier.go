package classifier

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed weights.bin
var weightsFile []byte

// model has a weight for each feature.
type model struct {
	weights []float32
	bias    float32
}

// trained is the model of weights.bin: two little-endian floats of 32 bits (the bias, and the
// weight of a step), then a signed byte for each weight, in steps.
var trained = sync.OnceValue(func() *model {
	m, err := decode(weightsFile)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return m
})

func decode(b []byte) (*model, error) {
	if len(b) != 8+size {
		return nil, fmt.Errorf("weights.bin has %d bytes, not %d", len(b), 8+size)
	}
	step := math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))
	m := &model{bias: math.Float32frombits(binary.LittleEndian.Uint32(b)), weights: make([]float32, size)}
	for i, c := range b[8:] {
		m.weights[i] = float32(int8(c)) * step
	}
	return m, nil
}

// encode is what decode reads, to within half a step.
func (m *model) encode() []byte {
	top := float32(0)
	for _, w := range m.weights {
		top = max(top, max(w, -w))
	}
	step := top / math.MaxInt8
	b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(m.bias))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(step))
	for _, w := range m.weights {
		b = append(b, byte(int8(math.Round(float64(w/step)))))
	}
	return b
}

// score is how far a text lies on the side of orders.
func (m *model) score(features []feature) float64 {
	sum := float64(m.bias)
	for _, f := range features {
		sum += float64(m.weights[f.index]) * float64(f.value)
	}
	return sum
}

// Bounds of what one score is of: the sentences that follow each other, and bytes. Shorter texts
// than Least say too little.
const (
	maxSentences = 3
	maxWindow    = 600
	Least        = 25
)

// The scores from which a text is to be looked at by a person. Which part of unknown orders and of
// harmless texts has them is in README.md.
const (
	Likely     = 0.2
	VeryLikely = 0.3
)

// Window is a part of a text, one to three sentences, and how much it reads like an order.
type Window struct {
	Text string
	// Score is the distance from the plane that parts orders (above 0) from other texts: the
	// orders and texts of the training lie at 1 and -1, or beyond.
	Score float64
}

// Most is the window of a text that reads most like an order; its Text is "" for a text that
// is too short. Of a long text the first maxText bytes are read.
func Most(s string) Window { return trained().most(s) }

func (m *model) most(s string) Window {
	best := Window{Score: math.Inf(-1)}
	scratch := bags.Get().(*bag)
	defer bags.Put(scratch)
	var list []feature
	eachWindow(s, func(text string, parts []part) {
		list = scratch.features(list, parts)
		if score := m.score(list); score > best.Score {
			best = Window{text, score}
		}
	})
	return best
}

var bags = sync.Pool{New: func() any { return &bag{} }}

// maxText bounds what is read of one text.
const maxText = 64 << 10

// eachWindow calls f with each run of up to maxSentences sentences of each line of a text, and what is in them.
func eachWindow(s string, f func(text string, parts []part)) {
	if len(s) > maxText {
		s = s[:maxText]
	}
	for line := range strings.Lines(strings.ToValidUTF8(s, "\uFFFD")) {
		ends := sentences(line)
		var parts []part
		from := 0
		for _, end := range ends {
			parts = append(parts, partOf(line[from:min(end, from+maxWindow)]))
			from = end
		}
		from = 0
		for i := range ends {
			for k := i; k < min(i+maxSentences, len(ends)) && (k == i || ends[k]-from <= maxWindow); k++ {
				w := strings.TrimSpace(line[from:ends[k]])
				if len(w) >= Least && isProse(w) {
					f(w, parts[i:k+1])
				}
			}
			from = ends[i]
		}
	}
}

// leastWords is how many words prose has, and maxWord how many bytes each in ASCII at most.
const leastWords, maxWord = 4, 30

// isProse reports whether a text is made of words, as ciphers, code in base64 and lists of numbers are not. Letters
// beyond ASCII are, since some languages part no words.
func isProse(s string) bool {
	said, all := 0, 0
	for w := range strings.FieldsSeq(s) {
		all++
		bare := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		isWord := bare != "" && !strings.ContainsFunc(bare, func(r rune) bool { return r >= '0' && r <= '9' || strings.ContainsRune("+/=", r) })
		switch ascii := len(bare) == utf8.RuneCountInString(bare); {
		case isWord && !ascii && len(bare) >= 24:
			said, all = said+leastWords, all+leastWords-1
		case isWord && (!ascii || len(bare) <= maxWord):
			said++
		}
	}
	return said >= leastWords && 2*said >= all
}

// sentences are the ends of the sentences of a line: behind a full stop, a question mark or the like.
func sentences(line string) (ends []int) {
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？', '।', '؟':
			ends = append(ends, end)
		case '.', '!', '?', ';':
			if next, _ := utf8.DecodeRuneInString(line[end:]); unicode.IsSpace(next) {
				ends = append(ends, end)
			}
		}
	}
	if from := append(ends, 0)[max(len(ends)-1, 0)]; strings.TrimSpace(line[from:]) != "" {
		ends = append(ends, len(line))
	}
	return ends
}
