package synth

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// nearest and farthest are how many calls lie between two listings where nothing else
	// is a reason to list: each time twice as many.
	nearest, farthest = 4, 32
	// blockLen is how many calls in a row are each followed by a listing,
	// and blocks one in how many blocks is such a one.
	blockLen, blocks = 4, 10
	// shortReplay is up to how many steps each call of a replay is followed by a listing.
	shortReplay = 20
)

// unseen is what may have changed the surface since it was listed last.
type unseen struct {
	// calls are those made since then, all those of the drive, and far is at how many of
	// them it is listed again.
	calls, all, far int
	// known are the kinds of calls after which it was listed.
	known map[string]bool
	// told are the changes that the server announced.
	told int64
	// each says that it is listed after every call.
	each bool
}

// Announcer is a Session that counts how often the server has announced another surface.
type Announcer interface {
	Announced() int64
}

// worthListing says whether a listing after this call can show what earlier ones did
// not: a tool or a kind of input is new, the server has announced a change, or many
// calls were made since. One seeded tenth of the calls has it always, so that a change is
// seen that is taken back at once.
func (d *driver) worthListing(c Call) bool {
	u := &d.unseen
	u.calls++
	u.all++
	kind := c.What + "\x00" + c.Tool + "\x00" + c.Class
	if len(c.Oracles) > 0 {
		kind += "\x00" + c.Oracles[0].Oracle
	}
	isNew := !u.known[kind]
	if u.known == nil {
		u.known = map[string]bool{}
	}
	u.known[kind] = true
	if a, ok := d.cfg.Session.(Announcer); ok {
		if n := a.Announced(); n != u.told {
			u.told, isNew = n, true
		}
	}
	if u.each || isNew || d.always(u.all) {
		return true
	}
	if u.far = max(u.far, nearest); u.calls < u.far {
		return false
	}
	u.far = min(2*u.far, farthest)
	return true
}

// always reports whether a call is in the tenth of which each is followed by a listing.
func (d *driver) always(n int) bool {
	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(d.cfg.Seed))
	binary.LittleEndian.PutUint64(b[8:], uint64(n/blockLen/blocks))
	_, _ = h.Write(b[:])
	return n/blockLen%blocks == int(h.Sum64()%blocks)
}

// listLast lists the surface where the last call was not followed by a listing, and
// reports whether it has more tools now.
func (d *driver) listLast() bool {
	if d.unseen.calls == 0 || !d.more() {
		return false
	}
	before := len(d.tools)
	d.relist(Call{N: d.n})
	return len(d.tools) > before
}

// relist lists the surface again and takes in what changed. It reports whether
// the surface was listed: where that takes more than its share of the time, it is
// left out until it does not.
func (d *driver) relist(c Call) bool {
	if d.stopped != nil || d.cfg.ListOnce {
		return false
	}
	begin := d.cfg.Now()
	spent, account, budget := begin.Sub(d.start), &d.relisting, d.cfg.Budget
	if c.Class == ClassOracle {
		spent, account, budget = begin.Sub(d.oraclesFrom), &d.relistingOracles, 0
	}
	if *account > relistGrace && float64(*account) > max(relistShare*float64(spent), relistBudget*float64(budget)) {
		if c.Class != ClassOracle && c.What != "" {
			d.skipped++
		}
		return false
	}
	d.unseen.calls = 0
	ctx, cancel := context.WithTimeout(d.ctx, max(d.cfg.CallTimeout, 5*time.Second))
	s, err := d.cfg.Session.Relist(ctx)
	cancel()
	*account += d.cfg.Now().Sub(begin)
	switch {
	case errors.Is(err, client.ErrClosed):
		d.report.Crashed, d.stopped = &c, ErrCrash
		return false
	case err != nil:
		if d.ctx.Err() == nil && !d.unlisted {
			d.unlisted = true
			d.shortfall(session.GapNotRelisted, c.Tool, "the surface could not be listed after call %d: %v", c.N, err)
		}
		return false
	case s != nil && d.compare(c, s):
		d.unseen.far = nearest
	}
	return true
}
