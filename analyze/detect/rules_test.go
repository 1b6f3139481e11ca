package detect_test

import (
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

func init() {
	detect.HasRule = func(subcategory string) bool {
		_, ok := rules.OfObservation(subcategory)
		return ok
	}
}
