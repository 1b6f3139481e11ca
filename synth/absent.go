package synth

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/synth/oracle"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// absent is an argument that the arguments with which a tool succeeded lack.
type absent struct {
	// with are those arguments and this one beside.
	with  json.RawMessage
	place oracle.Place
}

// absentOf are the declared texts that a tool's best arguments lack: it has refused them all, or some beside others.
// What it does with them is not known by that.
func (d *driver) absentOf(t *target) []absent {
	gen := d.generator(t)
	if t.base == nil || gen == nil {
		return nil
	}
	full, err := gen.Draw(d.seed(t), schema.TypicalFull)
	var had, all map[string]json.RawMessage
	if err != nil || json.Unmarshal(t.base, &had) != nil || json.Unmarshal(full, &all) != nil || had == nil {
		return nil
	}
	var out []absent
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, there := had[name]; there {
			continue
		}
		with := maps.Clone(had)
		with[name] = all[name]
		args, err := json.Marshal(with)
		if err != nil {
			continue
		}
		for _, p := range oracle.Places(args) {
			if p.Within(name) {
				out = append(out, absent{args, p})
			}
		}
	}
	return out
}

// absentInputs give each absent argument one input of each oracle.
func (d *driver) absentInputs(t *target, list []absent, token func(int) string) []probeInput {
	var out []probeInput
	for _, a := range list {
		out = append(out, placed(a.with, []oracle.Place{a.place}, oracle.Oracles(), oracle.Oracles(), d.oracleAt(t, token))...)
	}
	return out
}
