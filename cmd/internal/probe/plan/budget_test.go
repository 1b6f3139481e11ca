package plan

import (
	"testing"
	"time"
)

func TestBudgets(t *testing.T) {
	for text, want := range map[string]Budget{
		"quick":   {Calls: 8, Timeout: 5 * time.Minute, OracleTime: 25 * time.Second, ShrinkTime: 30 * time.Second},
		"nightly": {Calls: 200, Timeout: 30 * time.Minute, OracleTime: 15 * time.Minute, ShrinkTime: 7*time.Minute + 30*time.Second},
		"10m":     {Calls: 80, Timeout: 10 * time.Minute, OracleTime: 5 * time.Minute, ShrinkTime: 2*time.Minute + 30*time.Second},
		"1m":      {Calls: 8, Timeout: 5 * time.Minute, OracleTime: 30 * time.Second, ShrinkTime: 30 * time.Second},
		"2000h":   {Calls: 200, Timeout: 2000 * time.Hour, OracleTime: 1000 * time.Hour, ShrinkTime: 500 * time.Hour},
		"59s":     {}, "-1h": {}, "": {}, "soon": {}, "5": {},
	} {
		got, err := ParseBudget(text)
		if got != want || (err == nil) != (want.Calls > 0) {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, want)
		}
	}
}
