package cli

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

func TestDistinctName(t *testing.T) {
	long := strings.Repeat("n", 100)
	taken := map[string]bool{}
	for _, tc := range []struct{ name, want string }{
		{"files", "files"},
		{"files", "files (2)"},
		{"Files", "Files (3)"},
		{"files (2)", "files (2) (2)"},
		{"文件", "文件"},
		{"数据", "数据 (2)"},
		{"", " (3)"},
		{long, long},
		{long, long[:70] + " (2)"},
	} {
		got := distinctName(tc.name, taken)
		if got != tc.want || taken[report.Slug(got)] {
			t.Errorf("%q is called %q, want %q", tc.name, got, tc.want)
		}
		taken[report.Slug(got)] = true
	}
}
