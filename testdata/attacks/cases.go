package attacks

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// Place is where and as whom an attack runs, and what watches it.
type Place struct{ Backend, User, Tracer string }

func (p Place) String() string { return p.Backend + " " + p.User + " " + p.Tracer }

// Places are all that exist. An ordinary user may not load eBPF programs; in place there
// is no pid namespace to be watched from outside, and coalmine is the container's root.
// On the host alone nothing is traced.
var Places = []Place{
	{"local", "root", "strace"}, {"local", "root", "ebpf"}, {"local", "user", "strace"},
	{"docker", "root", "strace"}, {"docker", "root", "ebpf"}, {"docker", "user", "strace"},
	{"inplace", "root", "strace"},
	{"host", "root", "none"}, {"host", "user", "none"},
}

// Case is one attack in one place.
type Case struct {
	*Attack
	Place
}

func (c Case) String() string { return fmt.Sprintf("%s %s", c.ID(), c.Place) }

// pairs are what a case covers.
func (c Case) pairs() []string {
	return []string{
		c.Family + "×" + c.Backend, c.Family + "×" + c.Tracer, c.Family + "×" + c.User,
		c.Backend + "×" + c.User, c.Backend + "×" + c.Tracer, c.By + "×" + c.Backend,
	}
}

// Pair puts each attack into n places, chosen so that soon every pair occurs of family
// or party with backend, of family with tracer and user, and of backend with tracer and
// user. The seed decides between places that are as good.
func Pair(all []*Attack, n int, seed uint64) []Case {
	covered := map[string]int{}
	var out []Case
	for _, a := range all {
		var possible []Case
		for _, p := range Places {
			if slices.Contains(a.Backends, p.Backend) {
				possible = append(possible, Case{a, p})
			}
		}
		for range min(n, len(possible)) {
			best := slices.MinFunc(possible, func(x, y Case) int {
				if d := times(covered, x) - times(covered, y); d != 0 {
					return d
				}
				return cmp.Compare(draw(seed, x), draw(seed, y))
			})
			for _, p := range best.pairs() {
				covered[p]++
			}
			possible = slices.DeleteFunc(possible, func(c Case) bool { return c.Place == best.Place })
			out = append(out, best)
		}
	}
	return out
}

// times is how well the pairs of a case are covered already: one that is not counts for much.
func times(covered map[string]int, c Case) int {
	sum := 0
	for _, p := range c.pairs() {
		if covered[p] == 0 {
			sum -= 1000
		}
		sum += covered[p]
	}
	return sum
}

// draw is a number for a case and a seed.
func draw(seed uint64, c Case) uint32 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%d %s", seed, c)
	return h.Sum32()
}

// Shard returns the i-th of n parts, as "i/n" says; "" is all. The cases of an attack
// stay together, since they share its control.
func Shard(all []Case, shard string) ([]Case, error) {
	if shard == "" {
		return all, nil
	}
	a, b, _ := strings.Cut(shard, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if errI != nil || errN != nil || i < 1 || i > n {
		return nil, fmt.Errorf("the shard %q is not i/n with 1 ≤ i ≤ n", shard)
	}
	var out []Case
	k := -1
	for at, c := range all {
		if at == 0 || c.Attack != all[at-1].Attack {
			k++
		}
		if k%n == i-1 {
			out = append(out, c)
		}
	}
	return out, nil
}
