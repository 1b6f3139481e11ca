package secrets

import (
	"fmt"
	"maps"
	"sync"

	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"
)

// gitleaks reads its rules, some 200 expressions, by way of a variable that is the process',
// so that two goroutines must not do it at a time.
var gitleaks = sync.OnceValues(func() (config.Config, error) {
	logging.Logger = logging.Logger.Level(zerolog.Disabled)
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return config.Config{}, fmt.Errorf("the rules for secrets: %w", err)
	}
	return d.Config, nil
})

// Gitleaks are gitleaks' default rules. The caller may change which there are.
func Gitleaks() (config.Config, error) {
	c, err := gitleaks()
	c.Rules = maps.Clone(c.Rules)
	return c, err
}
