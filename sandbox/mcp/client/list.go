package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds on one list of a server's.
const (
	maxEntries   = 10_000
	maxPages     = 100
	maxListBytes = 64 << 20
	maxCursor    = 64 << 10
	// listTimeouts is how many call time-outs all pages of a list may take.
	listTimeouts = 4
)

// List reads all that the server declares into s: tools always, since a server
// may have some without saying so, the others if its capabilities name them.
// What could be read is in s even if err says that some could not.
func (c *Client) List(ctx context.Context, s *wire.Surface) error {
	declared, _ := object(s.Capabilities)
	var errs []error
	list := func(name string, read func() error) {
		if c.ended() != nil && len(errs) > 0 {
			return
		}
		err := read()
		var refused *wire.Error
		if errors.As(err, &refused) && refused.Code == codeMethodNotFound && (name == "templates" || declared[name] == nil) {
			err = nil
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	list("tools", func() (err error) {
		s.Tools, err = pages(ctx, c, "tools/list", wire.ParseTools)
		c.remember(s.Tools)
		return err
	})
	if declared["resources"] != nil {
		list("resources", func() (err error) {
			s.Resources, err = pages(ctx, c, "resources/list", wire.ParseResources)
			return err
		})
		list("templates", func() (err error) {
			s.Templates, err = pages(ctx, c, "resources/templates/list", wire.ParseTemplates)
			return err
		})
	}
	if declared["prompts"] != nil {
		list("prompts", func() (err error) {
			s.Prompts, err = pages(ctx, c, "prompts/list", wire.ParsePrompts)
			return err
		})
	}
	return errors.Join(errs...)
}

func (c *Client) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// pages reads one list to its end or to a bound.
func pages[T any](ctx context.Context, c *Client, method string, parse func(json.RawMessage) ([]T, string, error)) ([]T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeouts*c.opts.CallTimeout, ErrTimeout)
	defer cancel()
	var (
		all    []T
		cursor string
		size   int
		seen   = map[string]bool{}
	)
	for page := 0; ; page++ {
		result, err := c.page(ctx, method, cursor)
		if err != nil {
			return all, err
		}
		entries, next, err := parse(result)
		if err != nil {
			c.note(BadResult, "%s: %s", method, clipped(err))
		}
		all = append(all, entries...)
		size += len(result)
		if next == "" {
			return all[:min(len(all), maxEntries)], c.cutAt(method, len(all) > maxEntries, "more than %d entries", maxEntries)
		}
		seen[cursor] = true
		switch {
		case len(all) > maxEntries:
			return all[:maxEntries], c.cutAt(method, true, "more than %d entries", maxEntries)
		case seen[next]:
			return all, c.cutAt(method, true, "a cursor came back after %d pages: the pages have no end", page+1)
		case page+1 >= maxPages:
			return all, c.cutAt(method, true, "more than %d pages", maxPages)
		case size > maxListBytes:
			return all, c.cutAt(method, true, "more than %d bytes", maxListBytes)
		case len(next) > maxCursor:
			return all, c.cutAt(method, true, "a cursor of %d bytes", len(next))
		}
		cursor = next
	}
}

// page reads one page.
func (c *Client) page(ctx context.Context, method, cursor string) (json.RawMessage, error) {
	params, err := encode(struct {
		Cursor string          `json:"cursor,omitempty"`
		Meta   json.RawMessage `json:"_meta,omitempty"`
	}{cursor, c.metadata()})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	m, err := c.request(ctx, method, params, c.opts.CallTimeout)
	if err != nil {
		return nil, err
	}
	if m.Error != nil {
		return nil, fmt.Errorf("%s: error %d: %w", method, m.Error.Code, m.Error)
	}
	return m.Result, nil
}

// cutAt reports a list that was left before its end.
func (c *Client) cutAt(method string, cut bool, format string, args ...any) error {
	if !cut {
		return nil
	}
	why := fmt.Sprintf(format, args...)
	c.note(ListCut, "%s: %s", method, why)
	return fmt.Errorf("%s: %s: %w", method, why, ErrIncomplete)
}

// clipped is an error's text in a length that a notice can bear.
func clipped(err error) string {
	s := err.Error()
	if first, _, more := strings.Cut(s, "\n"); more {
		s = first + " (and more)"
	}
	if len(s) > 4*maxQuoted {
		return fmt.Sprintf("entries that could not be read (a message of %d bytes)", len(s))
	}
	return s
}
