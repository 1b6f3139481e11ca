package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// bounds are those of one list of a server's.
var bounds = wire.Bounds{Entries: 10_000, Pages: 100, Bytes: 64 << 20, Cursor: 64 << 10}

// listTimeouts is how many call time-outs all pages of a list may take.
const listTimeouts = 4

// List reads all that the server declares into s: tools always, since a server
// may have some without saying so, the others if its capabilities name them. A capability
// whose list is no method of the server's is noted, and holds nothing.
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
		if errors.As(err, &refused) && refused.Code == codeMethodNotFound && (name != "tools" || declared[name] == nil) {
			if declared[name] != nil {
				c.note(BadResult, "the server declares %s, and has no method that lists them", name)
			}
			err = nil // there is nothing that a client could be shown
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	list("tools", func() error {
		all, err := c.pages(ctx, wire.Tools)
		s.Tools = all.Tools
		c.remember(s.Tools)
		return err
	})
	if declared["resources"] != nil {
		list("resources", func() error {
			all, err := c.pages(ctx, wire.Resources)
			s.Resources = all.Resources
			return err
		})
		list("templates", func() error {
			all, err := c.pages(ctx, wire.Templates)
			s.Templates = all.Templates
			return err
		})
	}
	if declared["prompts"] != nil {
		list("prompts", func() error {
			all, err := c.pages(ctx, wire.Prompts)
			s.Prompts = all.Prompts
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

// pages reads one list to its end or to a bound. It asks for the pages itself, so
// that it needs no tracker to tell which list a page belongs to.
func (c *Client) pages(ctx context.Context, list wire.List) (wire.Entries, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTimeouts*c.opts.CallTimeout, ErrTimeout)
	defer cancel()
	method, cursor := list.Method(), ""
	all := wire.Pages{Bounds: bounds}
	seen := map[string]bool{}
	for n := 1; ; n++ {
		result, err := c.page(ctx, method, cursor)
		if err != nil {
			return all.Entries, err
		}
		page := c.read(list, cursor, result)
		if page.Err != nil {
			c.note(BadResult, "%s: %s", method, clipped(page.Err))
		}
		step := all.Add(page, cursor)
		seen[cursor] = true
		switch {
		case all.Over == wire.BoundEntries:
			return all.Entries, c.cut(method, "more than %d entries", bounds.Entries)
		case seen[page.Next] && page.Next != "":
			return all.Entries, c.cut(method, "a cursor came back after %d pages: the pages have no end", n)
		case all.Over == wire.BoundPages:
			return all.Entries, c.cut(method, "more than %d pages", bounds.Pages)
		case all.Over == wire.BoundBytes:
			return all.Entries, c.cut(method, "more than %d bytes", bounds.Bytes)
		case all.Over == wire.BoundCursor:
			return all.Entries, c.cut(method, "a cursor of %d bytes", len(page.Next))
		case step != wire.More:
			return all.Entries, nil
		}
		cursor = page.Next
	}
}

const (
	// maxPagesKept and maxPageKept bound the pages that are kept to be compared, in bytes.
	maxPagesKept = 64
	maxPageKept  = 1 << 20
)

// keptPage is a page that was read, by its list and the cursor that it was asked for with.
type keptPage struct {
	raw  []byte
	page *wire.Page
}

// read is wire.ReadPage, which is left out where the same bytes came before.
func (c *Client) read(list wire.List, cursor string, result json.RawMessage) *wire.Page {
	key := list.Method() + "\x00" + cursor
	c.mu.Lock()
	was, known := c.kept[key]
	c.mu.Unlock()
	if known && bytes.Equal(was.raw, result) {
		return was.page
	}
	page := wire.ReadPage(list, result)
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.kept, key); len(c.kept) < maxPagesKept && len(key)+len(result) <= maxPageKept {
		c.kept[key] = keptPage{bytes.Clone(result), page}
	}
	return page
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

// cut reports a list that was left before its end.
func (c *Client) cut(method, format string, args ...any) error {
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
