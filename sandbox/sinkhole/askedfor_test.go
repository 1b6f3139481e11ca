package sinkhole

import (
	"net/url"
	"strings"
	"testing"
)

func TestWithAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, query, want string }{
		{`{"hourly":{"time":["t"],"rain":[0]}}`, "hourly=rain,snow_depth", `{"hourly":{"rain":[0],"snow_depth":[0],"time":["t"]}}`},
		{`{"now":{"warmth":12.5}}`, "now=warmth,wind&place=York", `{"now":{"warmth":12.5,"wind":12.5}}`},
		{`{"now":{"name":"York"}}`, "now=wind", `{"now":{"name":"York"}}`},
		{`{"now":{"warmth":1}}`, "now=a-b,,1c,{}", `{"now":{"warmth":1}}`},
		{`{"now":null,"list":[1]}`, "now=a&list=b&other=c", `{"now":null,"list":[1]}`},
		{`[1]`, "now=a", `[1]`},
		{`no JSON`, "now=a", `no JSON`},
	} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := withAsked(c.body, q); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.query, c.body, got, c.want)
		}
	}
	many := withAsked(`{"now":{"a":1}}`, url.Values{"now": {strings.Repeat("x,", 9) + strings.Join(strings.Split(strings.Repeat("y", 200), ""), "z,y") + "end"}})
	if n := strings.Count(many, ":"); n > maxAsked+1 {
		t.Errorf("%d members", n)
	}
}

func TestAServiceGivesWhatTheQueryNames(t *testing.T) {
	t.Parallel()
	w := served(&Config{}, "GET", "https://api.open-meteo.com/v1/forecast?latitude=1&hourly=temperature_2m,relative_humidity_2m", "")
	if !strings.Contains(w.Body.String(), `"relative_humidity_2m":[`) {
		t.Error(w.Body)
	}
}
