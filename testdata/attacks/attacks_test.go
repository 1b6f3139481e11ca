package attacks

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func load(t *testing.T) []*Attack {
	t.Helper()
	all, err := Load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAttacksAreWhole(t *testing.T) {
	all := load(t)
	families, parties := map[string]int{}, map[string]int{}
	for _, a := range all {
		families[a.Family]++
		parties[a.By]++
		if strings.HasPrefix(a.What, "TODO") || !strings.HasSuffix(a.What, ".") {
			t.Errorf("%s: what it does is no sentence: %q", a.ID(), a.What)
		}
	}
	if len(all) < 80 {
		t.Errorf("%d attacks, want 80", len(all))
	}
	for _, f := range Families {
		if families[f] < 8 {
			t.Errorf("the family %s has %d attacks, want 8", f, families[f])
		}
	}
	for _, p := range Parties {
		if parties[p] == 0 {
			t.Errorf("nobody attacks as %s", p)
		}
	}
}

// Every pair that is possible occurs: of family and backend, family and tracer, family
// and user, backend and user, backend and tracer.
func TestEveryPairOccurs(t *testing.T) {
	all := load(t)
	for seed := range uint64(3) {
		want, got := map[string]bool{}, map[string]bool{}
		for _, a := range all {
			for _, p := range Places {
				if slices.Contains(a.Backends, p.Backend) {
					for _, pair := range (Case{a, p}).pairs() {
						want[pair] = true
					}
				}
			}
		}
		for _, c := range Pair(all, 2, seed) {
			for _, pair := range c.pairs() {
				got[pair] = true
			}
		}
		for _, pair := range slices.Sorted(maps.Keys(want)) {
			if !got[pair] {
				t.Errorf("seed %d: no case has %s", seed, pair)
			}
		}
	}
}

func TestPairingIsTheSame(t *testing.T) {
	all := load(t)
	if !slices.Equal(Pair(all, 2, 1), Pair(all, 2, 1)) {
		t.Error("the same seed gives other cases")
	}
}

func TestShardsAreAParting(t *testing.T) {
	cases := Pair(load(t), 2, 1)
	n, seen := 0, map[*Attack]string{}
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		some, err := Shard(cases, shard)
		if err != nil {
			t.Fatal(err)
		}
		n += len(some)
		for _, c := range some {
			if before := seen[c.Attack]; before != "" && before != shard {
				t.Errorf("%s is in the shards %s and %s", c.ID(), before, shard)
			}
			seen[c.Attack] = shard
		}
	}
	if n != len(cases) {
		t.Errorf("the shards have %d of %d cases", n, len(cases))
	}
	for _, bad := range []string{"0/3", "4/3", "3", "a/b", "1/0"} {
		if _, err := Shard(cases, bad); err == nil {
			t.Errorf("%q is no shard", bad)
		}
	}
}

func TestArchivesThatAreNoAttack(t *testing.T) {
	const server = "-- server.py --\npass\n"
	for _, bad := range []string{
		"", server, "deed: said\n" + server, "What.\n" + server, "What.\ndeed: silent\n" + server, "What.\ndeed: checked\n" + server, "What.\ndeed: said\nby: nobody\n" + server,
		"What.\ndeed: said\nwithin: soon\n" + server, "What.\ndeed: said\nnamed: (\n" + server, "What.\ndeed: said\nunknown: x\n" + server, "What.\ndeed: said\n-- attack.sh --\n",
		"What.\ndeed: said\n-- attack.sh --\ntrue\n-- control.sh --\ntrue\n", "What.\ndeed: said\nreached: x\n-- attack.sh --\ntrue\n", "What.\ndeed: said\nreached: (\n-- attack.sh --\ntrue\n-- control.sh --\ntrue\n",
	} {
		if _, err := Parse("read", "x", []byte(bad)); err == nil {
			t.Errorf("this is an attack: %q", bad)
		}
	}
	if _, err := Parse("read", "x", []byte("What.\ndeed: said\nreached: x\n-- attack.sh --\ntrue\n-- control.sh --\ntrue\n")); err != nil {
		t.Error(err)
	}
	if _, err := Parse("theft", "x", []byte("What.\ndeed: said\n"+server)); err == nil {
		t.Error("a family that is not known is taken")
	}
	if a, err := Parse("read", "x", []byte("What\nit does.\ndeed: said\n"+server)); err != nil || a.What != "What it does." || !a.IsServer() {
		t.Errorf("%+v %v", a, err)
	}
}
