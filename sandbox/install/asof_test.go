package install

import (
	"testing"
	"time"
)

func TestParseAsOf(t *testing.T) {
	for text, want := range map[string]AsOf{
		"":                          {},
		"today":                     {},
		"release":                   {Release: true},
		"2025-03-31":                {Time: time.Date(2025, 3, 31, 23, 59, 59, 0, time.UTC)},
		"2025-03-31T12:00:00+02:00": {Time: time.Date(2025, 3, 31, 10, 0, 0, 0, time.UTC)},
	} {
		if got, err := ParseAsOf(text); err != nil || got != want || got.IsNow() != (text == "" || text == "today") {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "2025-13-01", "31.3.2025", "Release"} {
		if got, err := ParseAsOf(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// A release is as late as its last archive, whatever other versions and packages came later.
func TestReleaseOfArchives(t *testing.T) {
	u := &uploads{}
	day := func(n int) time.Time { return time.Date(2025, 1, n, 0, 0, 0, 0, time.UTC) }
	for file, at := range map[string]time.Time{
		"My_Server-1.0-py3-none-any.whl":             day(1),
		"my_server-1.0-cp311-cp311-manylinux1_x.whl": day(2),
		"my-server-1.0.tar.gz":                       day(3),
		"my_server-1.0.1-py3-none-any.whl":           day(9),
		"my_server_extra-1.0-py3-none-any.whl":       day(8),
		"other-1.0.zip":                              day(7),
		"nothing":                                    day(6), "-.whl": day(6), "x.tar.gz": day(6),
	} {
		u.add(file, at)
	}
	if got := u.latest("my.server", "1.0"); !got.Equal(day(3)) {
		t.Errorf("released %s, want %s", got, day(3))
	}
	if got := u.latest("my-server", "2.0"); !got.IsZero() {
		t.Errorf("a version that is not there was released %s", got)
	}
}

func TestReleaseOfNPM(t *testing.T) {
	want := time.Date(2025, 2, 3, 4, 5, 6, 0, time.UTC)
	for text, known := range map[string]bool{
		`{"version":"1.2.0","time":{"created":"2024-01-01T00:00:00Z","1.2.0":"2025-02-03T04:05:06Z"}}`:                              true,
		`[{"version":"1.1.0","time":{"1.1.0":"2024-01-01T00:00:00Z"}},{"version":"1.2.0","time":{"1.2.0":"2025-02-03T04:05:06Z"}}]`: true,
		`{"version":"1.2.0","time":{}}`: false, `[]`: false, `"1.2.0"`: false, ``: false, `{"time":7}`: false,
	} {
		if got := npmReleased([]byte(text)); known != got.Equal(want) || !known && !got.IsZero() {
			t.Errorf("%s: %s", text, got)
		}
	}
}
