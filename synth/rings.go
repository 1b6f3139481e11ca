package synth

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// openRing is a refusal of a polygon whose ring is not closed, or too short (RFC 7946, section 3.1.6).
var openRing = lazyregexp.New(`(?i)\bfirst and last\b|\blinear ?rings?\b|\bnot closed\b|\bclosed (?:ring|polygon|loop)\b|\b(?:4|four) or more (?:positions|points|coordinates)\b|\bat least (?:4|four) (?:positions|points|coordinates)\b`)

// closedRings gives each ring of positions among the arguments the form that a polygon has: a small square, whose last
// position is its first. Several overlap. nil is for no such refusal, or no ring.
func (l *learner) closedRings(args json.RawMessage, text string) json.RawMessage {
	var given map[string]any
	if len(text) > 4096 || !openRing.MatchString(text) || json.Unmarshal(args, &given) != nil {
		return nil
	}
	made := 0
	out, err := json.Marshal(ringsOf(given, &made))
	if err != nil || made == 0 {
		return nil
	}
	return out
}

// maxRings bounds the rings of one call.
const maxRings = 64

// ringsOf is a value with squares for its rings; of a polygon with holes the outer ring alone stays.
func ringsOf(v any, made *int) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = ringsOf(v[name], made)
		}
	case []any:
		switch {
		case *made >= maxRings:
		case isRing(v):
			*made++
			return square(float64(*made))
		case len(v) > 0 && isRing(v[0]):
			*made++
			return []any{square(float64(*made))}
		default:
			for i := range v {
				v[i] = ringsOf(v[i], made)
			}
		}
	}
	return v
}

// isRing reports whether a value is a list of positions: lists of two or three numbers.
func isRing(v any) bool {
	list, _ := v.([]any)
	if len(list) == 0 {
		return false
	}
	position, _ := list[0].([]any)
	return len(position) >= 2 && len(position) <= 3 && !slices.ContainsFunc(position, func(v any) bool { _, isNumber := v.(float64); return !isNumber })
}

// square is a closed ring of four corners, in degrees; that of the next number overlaps it.
func square(n float64) []any {
	west, south := -0.12+n/100, 51.5+n/100
	east, north := west+0.05, south+0.05
	return []any{[]float64{west, south}, []float64{east, south}, []float64{east, north}, []float64{west, north}, []float64{west, south}}
}
