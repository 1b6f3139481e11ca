package audit

import (
	"fmt"
	"sync"

	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// secretHit is a credential in a source; its value stays here.
type secretHit struct {
	offset   int
	what     string
	severity finding.Severity
}

// secretScanner finds credentials in one file's text.
type secretScanner interface {
	scan(path, src string) []secretHit
}

// gitleaks is the secretScanner by gitleaks' default rules.
type gitleaks struct{ detector *detect.Detector }

// The default rules are some 200 expressions; compiling them once is enough,
// and a Detector must not be used by two goroutines at a time.
var (
	gitleaksMu   sync.Mutex
	gitleaksOnce = sync.OnceValues(func() (*detect.Detector, error) {
		logging.Logger = logging.Logger.Level(zerolog.Disabled)
		return detect.NewDetectorDefaultConfig()
	})
)

func newSecretScanner() (secretScanner, error) {
	d, err := gitleaksOnce()
	if err != nil {
		return nil, fmt.Errorf("audit: the rules for secrets: %w", err)
	}
	return gitleaks{d}, nil
}

func (g gitleaks) scan(path, src string) []secretHit {
	gitleaksMu.Lock()
	defer gitleaksMu.Unlock()
	var out []secretHit
	lines := lineStarts(src)
	//nolint:staticcheck // Detect takes no other type before gitleaks v9
	for _, f := range g.detector.Detect(detect.Fragment{Raw: src, FilePath: path}) {
		h := secretHit{what: f.RuleID, severity: finding.Critical}
		if f.RuleID == "generic-api-key" {
			h.severity = finding.Low
		}
		if f.StartLine >= 0 && f.StartLine < len(lines) {
			h.offset = lines[f.StartLine] + max(f.StartColumn-1, 0)
		}
		out = append(out, h)
	}
	return out
}

// lineStarts are the byte offsets of a text's lines.
func lineStarts(src string) []int {
	out := []int{0}
	for i := range len(src) {
		if src[i] == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}
