package audit

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

func TestJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flow taint.Flow
		want finding.Severity
	}{
		{taint.Flow{CWE: "CWE-88", Program: "git"}, finding.Medium},
		{taint.Flow{CWE: "CWE-88", Program: "adb"}, finding.Low},
		{taint.Flow{CWE: "CWE-88"}, finding.Medium},
		{taint.Flow{CWE: "CWE-78"}, finding.High},
		{taint.Flow{CWE: "CWE-78", Capability: true}, finding.Info},
		{taint.Flow{CWE: "CWE-22", Part: true}, finding.High},
		{taint.Flow{CWE: "CWE-22"}, finding.Medium},
	} {
		if _, got := judged(&c.flow); got != c.want {
			t.Errorf("%+v is %s, want %s", c.flow, got, c.want)
		}
	}
}
