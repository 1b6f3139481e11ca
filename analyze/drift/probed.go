package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxReport bounds a probe's report, in bytes.
const maxReport = 256 << 20

// probed makes the fingerprint of a probe's own session that of the server: what coalmine
// called, and which hosts stood in its inputs, says nothing of the server. What the server did
// comes from the probe's report, where it has one.
func (f *Fingerprint) probed(root *os.Root) error {
	dir := path.Dir(f.Source)
	if path.Base(f.Source) != session.FramesFile || !regular(root, path.Join(dir, session.TraceFile)) {
		return nil
	}
	f.Probe = true
	f.Called, f.Fabricated, f.Hosts, f.ServerRequests, f.CallCounts = []string{}, []string{}, []string{}, []string{}, map[string]int{}
	f.PrematureChange = false
	data, err := session.ReadFile(root, path.Join(dir, "report.json"), maxReport)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var report struct {
		Observed []finding.Effect `json:"observed"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return fmt.Errorf("read its report.json: %w", err)
	}
	f.Behaviours = []string{}
	for _, behaviour := range rules.Behaviours(report.Observed) {
		f.Behaviours = append(f.Behaviours, shown(behaviour))
	}
	slices.Sort(f.Behaviours)
	f.Behaviours = slices.Compact(f.Behaviours)
	return nil
}
