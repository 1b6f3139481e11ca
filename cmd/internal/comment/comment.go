package comment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Place is a pull request, and the account that comments.
type Place struct {
	// API is the address of the REST API, Repository "owner/name".
	API, Repository string
	Number          int
	// Author is the login that comments of the token have.
	Author string
	Token  string
}

// The bounds: the characters of a comment (GitHub's own), an answer's bytes, the pages of
// comments that are looked through, and the time for all of it.
const (
	maxBody   = 65_536
	maxAnswer = 32 << 20
	maxPages  = 30
	perPage   = 100
	patience  = time.Minute
)

// ErrNoPullRequest says that an event is about no pull request.
var ErrNoPullRequest = errors.New("the event is about no pull request")

var repository = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)

// FromEvent finds the pull request in a workflow's event payload.
func FromEvent(payload []byte) (int, error) {
	var event struct {
		PullRequest *struct {
			Number int `json:"number"`
		} `json:"pull_request"`
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return 0, fmt.Errorf("read the event: %w", err)
	}
	if event.PullRequest == nil || event.PullRequest.Number <= 0 {
		return 0, ErrNoPullRequest
	}
	return event.PullRequest.Number, nil
}

// Body makes a comment's text of a head and whole parts, as many as there is room for. The
// marker in its first line names the comment.
func Body(name, head string, parts []string) string {
	const rest = "\nThe other servers' summaries had no room here.\n"
	var b strings.Builder
	b.WriteString(marker(name) + "\n" + head + "\n")
	room := maxBody - len(rest)
	for _, part := range parts {
		if b.Len()+len(part)+1 > room {
			b.WriteString(rest)
			break
		}
		b.WriteString("\n" + part)
	}
	return b.String()
}

// marker is what a comment begins with, invisible where it is shown.
func marker(name string) string {
	return "<!-- coalmine: " + strings.NewReplacer("-->", "", "\n", " ", "\r", " ").Replace(name) + " -->"
}

// What Put did.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
)

// Put makes the comment of a name, or brings the one that is there up to date.
func Put(ctx context.Context, at Place, name, body string) (done string, err error) {
	c, err := newClient(at)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	id, old, err := c.find(ctx, marker(name))
	if err != nil {
		return "", err
	}
	sent := map[string]string{"body": body}
	switch {
	case id == 0:
		return Created, c.do(ctx, http.MethodPost, c.comments(), sent, nil)
	case strings.TrimSpace(old) == strings.TrimSpace(body):
		return Unchanged, nil
	}
	return Updated, c.do(ctx, http.MethodPatch, c.base.JoinPath("repos", at.Repository, "issues", "comments", strconv.FormatInt(id, 10)), sent, nil)
}

type client struct {
	at   Place
	base *url.URL
	http *http.Client
}

func newClient(at Place) (*client, error) {
	base, err := url.Parse(at.API)
	if err != nil {
		return nil, fmt.Errorf("the API's address: %w", err)
	}
	if ip := net.ParseIP(base.Hostname()); base.Scheme != "https" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the API's address %.200s is no https address", at.API)
	}
	if !repository.MatchString(at.Repository) {
		return nil, fmt.Errorf("%.200q is no repository such as owner/name", at.Repository)
	}
	if at.Token == "" || strings.ContainsAny(at.Token, " \r\n\x00") {
		return nil, errors.New("there is no token")
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{at, base, &http.Client{CheckRedirect: refuse}}, nil
}

func (c *client) comments() *url.URL {
	return c.base.JoinPath("repos", c.at.Repository, "issues", strconv.Itoa(c.at.Number), "comments")
}

// find is the first comment of the author's that begins with a marker, 0 for none.
func (c *client) find(ctx context.Context, marker string) (id int64, body string, err error) {
	for page := 1; page <= maxPages; page++ {
		u := c.comments()
		u.RawQuery = url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}}.Encode()
		var list []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
			User struct {
				Login string `json:"login"`
			} `json:"user"`
		}
		if err := c.do(ctx, http.MethodGet, u, nil, &list); err != nil {
			return 0, "", err
		}
		for _, e := range list {
			if e.User.Login == c.at.Author && strings.HasPrefix(e.Body, marker) {
				return e.ID, e.Body, nil
			}
		}
		if len(list) < perPage {
			return 0, "", nil
		}
	}
	return 0, "", fmt.Errorf("the pull request has over %d comments", maxPages*perPage)
}

// do makes one request. An error has the API's own words, which may name no secret of ours.
func (c *client) do(ctx context.Context, method string, u *url.URL, sent, got any) error {
	var body io.Reader
	if sent != nil {
		data, err := json.Marshal(sent)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.at.Token)
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	req.Header.Set("User-Agent", "coalmine")
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("ask the API: %w", err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the API's answer: %w", err)
	}
	if res.StatusCode/100 != 2 {
		var said struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(data, &said) // without a message the status alone is told
		return fmt.Errorf("the API answers %s to %s: %.200s", res.Status, method, strings.ReplaceAll(said.Message, c.at.Token, "***"))
	}
	if got == nil {
		return nil
	}
	if err := json.Unmarshal(data, got); err != nil {
		return fmt.Errorf("read the API's answer: %w", err)
	}
	return nil
}

// FromEnvironment is the place that a runner's variables name. Its errors say which is missing.
func FromEnvironment() (Place, error) {
	at := Place{API: os.Getenv("GITHUB_API_URL"), Repository: os.Getenv("GITHUB_REPOSITORY"), Token: os.Getenv("GITHUB_TOKEN")}
	for name, value := range map[string]string{"GITHUB_API_URL": at.API, "GITHUB_REPOSITORY": at.Repository, "GITHUB_TOKEN": at.Token} {
		if value == "" {
			return at, fmt.Errorf("the variable %s is not set", name)
		}
	}
	f, err := os.Open(os.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return at, fmt.Errorf("the variable GITHUB_EVENT_PATH: %w", err)
	}
	defer f.Close()
	payload, err := io.ReadAll(io.LimitReader(f, maxAnswer))
	if err != nil {
		return at, err
	}
	at.Number, err = FromEvent(payload)
	return at, err
}
