package sinkhole

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWebDAV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, url, depth, body string
		responses                int
		want                     string
	}{
		{"PROPFIND", "https://cloud.example.com/remote.php/dav/calendars/sam/", "1", "", 2, "<c:calendar/>"},
		{"PROPFIND", "https://cloud.example.com/", "0", "<propfind/>", 1, "current-user-principal"},
		{"REPORT", "https://cloud.example.com/calendars/sam/home", "1", "<calendar-query/>", 1, "SUMMARY:Garden meeting"},
		{"REPORT", "https://cloud.example.com/x/", "1", "<addressbook-query/>", 1, "FN:Alex Morgan"},
		{"PROPFIND", "https://cloud.example.com/a%26b%3Cc/", "0", "", 1, "/a%26b%3Cc/"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		r.Header.Set("Depth", c.depth)
		p := (&Config{}).pageFor(r, r.Host, false, []byte(c.body))
		var got struct {
			Responses []struct {
				Href string `xml:"href"`
			} `xml:"response"`
		}
		if err := xml.Unmarshal([]byte(p.body), &got); err != nil || p.status != http.StatusMultiStatus || len(got.Responses) != c.responses || !strings.Contains(p.body, c.want) {
			t.Errorf("%s %s: %v, %d %s", c.method, c.url, err, p.status, p.body)
		}
	}
	if _, ok := webDAV(httptest.NewRequestWithContext(t.Context(), "GET", "https://cloud.example.com/", nil), nil); ok {
		t.Error("GET is a method of WebDAV's own")
	}
}
