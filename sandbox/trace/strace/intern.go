package strace

import "hash/maphash"

// interner makes strings of byte slices, mostly without making them anew: a log
// names the same paths and flags again and again. Its size is bounded.
type interner struct {
	seed  maphash.Seed
	table []string
}

const (
	internSlots  = 4096
	internLength = 256
)

func (n *interner) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > internLength {
		return string(b)
	}
	if n.table == nil {
		n.seed = maphash.MakeSeed()
		n.table = make([]string, internSlots)
	}
	slot := &n.table[maphash.Bytes(n.seed, b)%internSlots]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
