package profile

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// effectKey is what tells two effects apart.
type effectKey struct {
	kind    finding.EffectKind
	target  string
	phase   finding.Phase
	call    int
	rung    finding.Rung
	actor   string
	noise   string
	pending bool
	via     string
	host    string
	used    bool
	owner   bool
	place   string
	asks    string
}

// effectIndex says by the sum of an effect's key where the effect stands. A key is several times
// as long as its sum, and keys outnumber all else that a judge keeps.
type effectIndex map[[2]uint64]int

// keySeeds are drawn anew in each process: nobody can make two keys of one sum.
var keySeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (k *effectKey) sum() (out [2]uint64) {
	for i := range out {
		out[i] = maphash.Comparable(keySeeds[i], *k)
	}
	return out
}

// pathSum stands for a path.
func pathSum(p string) uint64 { return maphash.String(keySeeds[0], p) }

// merge adds an effect to those that were found; ok is false where there is no room.
func merge(effects *[]finding.Effect, index effectIndex, e *finding.Effect) (place int, ok bool) {
	k := effectKey{e.Kind, e.Target, e.Phase, e.Call, e.Rung, e.Actor, e.Noise, e.Ambiguous, "", "", false, e.Owner, e.Elsewhere, e.Asks + e.Installs + e.Destroys}
	if e.Kind == finding.Secret {
		k.via, k.host, k.used = e.Via, e.Host, e.Used != ""
	}
	sum := k.sum()
	if i, ok := index[sum]; ok {
		(*effects)[i].Count += max(e.Count, 1)
		(*effects)[i].Request = commonPath((*effects)[i].Request, e.Request)
		return i, true
	}
	if len(*effects) >= maxEffects {
		return -1, false
	}
	e.Count = max(e.Count, 1)
	if n := len(*effects); n == cap(*effects) && 2*n > maxEffects {
		*effects = slices.Grow(*effects, maxEffects-n) // and no more than there may be
	}
	*effects = append(*effects, *e)
	index[sum] = len(*effects) - 1
	return len(*effects) - 1, true
}

// commonPath is what two request lines have in common, up to the last slash of both: "" where that is no path.
func commonPath(a, b string) string {
	if a == b {
		return a
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:strings.LastIndexByte(a[:n], '/')+1]
}
