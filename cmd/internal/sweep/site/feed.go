package site

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

type feed struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Channel struct {
		Title       string `xml:"title"`
		Link        string `xml:"link,omitempty"`
		Description string `xml:"description"`
		Items       []item `xml:"item"`
	} `xml:"channel"`
}

type item struct {
	Title       string `xml:"title"`
	Link        string `xml:"link,omitempty"`
	Description string `xml:"description"`
	GUID        struct {
		Text string `xml:",chardata"`
		Perm bool   `xml:"isPermaLink,attr"`
	} `xml:"guid"`
	Date string `xml:"pubDate"`
}

// maxNews bounds the items of the feed.
const maxNews = 500

// CheckBase refuses an address that no page can have.
func CheckBase(base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%s is not the address of a directory, such as https://example.com/sweep/", base)
	}
	return nil
}

// link is the address of a file of the site, "" where the site's own is not known: a reader
// of feeds opens only whole addresses.
func link(base, name string) string {
	u, err := url.Parse(base)
	if base == "" || err != nil {
		return ""
	}
	return u.JoinPath(name).String()
}

// writeFeed writes the findings that the round before did not have as RSS 2.0.
func writeFeed(dir *os.Root, base string, began time.Time, news []Change) error {
	f := feed{Version: "2.0"}
	f.Channel.Title, f.Channel.Link, f.Channel.Description = "coalmine: new findings", link(base, "index.html"), "Findings of servers that the sweep before did not have"
	for _, c := range news {
		for _, n := range c.New {
			if len(f.Channel.Items) >= maxNews {
				break
			}
			it := item{Title: text.Printable(c.Name+" "+c.To.Version+": "+n.Title, 300), Link: link(base, PageOf(c.Key)), Description: text.Printable(n.Message, 1000), Date: began.UTC().Format(time.RFC1123Z)}
			it.GUID.Text = report.Slug(c.Key) + "-" + n.Fingerprint
			f.Channel.Items = append(f.Channel.Items, it)
		}
	}
	data, err := xml.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return dir.WriteFile("feed.xml", append([]byte(xml.Header), data...), 0o644)
}

// news are the changes between two rounds. A result that is an error says nothing of
// findings, so the last one before it speaks for the server.
func news(ctx context.Context, s *store.Store, before, now []store.Entry) ([]Change, error) {
	var spoken []store.Entry
	for _, e := range before {
		if e.Verdict != store.VerdictError {
			spoken = append(spoken, e)
			continue
		}
		history, err := s.History(ctx, e.Key)
		if err != nil {
			return nil, err
		}
		for _, h := range history {
			if h.ID < e.ID && h.Verdict != store.VerdictError {
				spoken = append(spoken, h)
				break
			}
		}
	}
	return Diff(spoken, now), nil
}
