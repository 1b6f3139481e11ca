package synth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	bySubject = `{"type":"object","properties":{"subject":{"type":"string"}},"required":["subject"]}`
	byTicket  = `{"type":"object","properties":{"ticket_id":{"type":"string"}},"required":["ticket_id"]}`
)

// desk hands out tickets, and counts those that are closed twice in a row.
func desk(tools ...wire.Tool) (f *fake, twice *int) {
	f, twice = newFake(tools...), new(int)
	opened, last := 0, ""
	f.tool = func(name string, args json.RawMessage) (client.Result, error) {
		var given struct {
			TicketID string `json:"ticket_id"`
		}
		if err := json.Unmarshal(args, &given); err != nil {
			return refusal("bad"), nil
		}
		if name == "open_ticket" {
			opened, last = opened+1, ""
			return success(fmt.Sprintf(`{"ticket_id":"T-%d"}`, opened)), nil
		}
		if given.TicketID == last && given.TicketID == fmt.Sprintf("T-%d", opened) {
			*twice++
		}
		last = given.TicketID
		return success("closed"), nil
	}
	return f, twice
}

func TestSequencesUseWhatWasJustMade(t *testing.T) {
	for seed := range int64(20) {
		f, twice := desk(tool("open_ticket", bySubject), tool("close_ticket", byTicket))
		r := drive(t, f, Config{Seed: seed})
		if *twice == 0 || r.Tools[0].Classes[ClassSequence] == 0 || r.Tools[0].Calls != DefaultCalls {
			t.Errorf("seed %d: %+v", seed, r.Tools)
		}
		if n := len(f.log); n > 4*DefaultCalls {
			t.Errorf("seed %d: %d calls", seed, n)
		}
		again, _ := desk(tool("open_ticket", bySubject), tool("close_ticket", byTicket))
		if drive(t, again, Config{Seed: seed}); !slices.Equal(f.log, again.log) {
			t.Errorf("seed %d gives other calls the second time", seed)
		}
	}
}

// A short time for attack inputs leaves time for the sequences of a server that answers at a machine's slow pace.
func TestSequencesHaveTimeForTheirCalls(t *testing.T) {
	t.Parallel()
	f, _ := desk(tool("open_ticket", bySubject), tool("close_ticket", byTicket))
	f.takes = sequenceCall * 4 / 5
	r := drive(t, f, Config{OracleTime: time.Second})
	if slices.ContainsFunc(r.Shortfalls, func(g session.Gap) bool { return g.Code == session.GapSequencesIncomplete }) {
		t.Errorf("%+v", r.Shortfalls)
	}
}

func TestIdempotentToolsAreCalledTwiceAlike(t *testing.T) {
	yes := true
	one := tool("set_title", anything)
	one.Annotations = &wire.Annotations{Idempotent: &yes}
	f := newFake(one)
	drive(t, f, Config{})
	last := f.log[len(f.log)-2:]
	if last[0] != last[1] {
		t.Errorf("%q", f.log)
	}
}

func TestNothingToSequence(t *testing.T) {
	for _, tools := range [][]wire.Tool{
		{tool("open_ticket", bySubject)},
		{tool("close_ticket", byTicket)},
		{tool("echo", anything), tool("get_note", anything)},
	} {
		f := newFake(tools...)
		if drive(t, f, Config{Calls: 3}); len(f.log) != 3*len(tools) {
			t.Errorf("%q", f.log)
		}
	}
}

func TestNamesOfIDs(t *testing.T) {
	args := json.RawMessage(`{"ticket_id":"a","sessionId":7,"Key":"k","valid":"no","grid":"no","idea":"no","list_id":["no"],"ref":null,"id":"x"}`)
	if got := strings.Join(idsOf(args), " "); got != "Key id sessionId ticket_id" {
		t.Error(got)
	}
	s := &sequence{made: map[string]string{"ticketid": "T-1", "id": "9"}}
	if got := string(s.filled(json.RawMessage(`{"ticket_id":"a","sessionId":7,"n":1}`))); got != `{"n":1,"sessionId":9,"ticket_id":"T-1"}` {
		t.Error(got)
	}
}
