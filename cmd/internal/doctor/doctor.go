package doctor

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// Row is one line of the table.
type Row struct {
	// What was looked at.
	What string      `json:"what"`
	OK   sandbox.Tri `json:"works"`
	// Reason is what was found, Hint what would make a no a yes.
	Reason string `json:"reason,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// check finds out about one thing.
type check struct {
	what string
	ask  func(context.Context) sandbox.Support
}

// checkTimeout bounds each check; one that takes longer is unknown.
const checkTimeout = 15 * time.Second

// Table asks everything at once and answers in a fixed order.
func Table(ctx context.Context) []Row { return table(ctx, checks(), checkTimeout) }

func table(ctx context.Context, all []check, timeout time.Duration) []Row {
	rows := make([]Row, len(all))
	var wait sync.WaitGroup
	for i, c := range all {
		wait.Go(func() {
			s := c.answer(ctx, timeout)
			rows[i] = Row{What: c.what, OK: s.OK, Reason: s.Reason, Hint: s.Hint}
		})
	}
	wait.Wait()
	return rows
}

// answer asks, and does not wait for longer than it said.
func (c check) answer(ctx context.Context, timeout time.Duration) sandbox.Support {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answered := make(chan sandbox.Support, 1)
	go func() { answered <- c.ask(ctx) }()
	select {
	case s := <-answered:
		return s
	case <-ctx.Done():
		return unknown("no answer within %v", timeout)
	}
}

func yes(format string, args ...any) sandbox.Support {
	return sandbox.Support{OK: sandbox.Yes, Reason: fmt.Sprintf(format, args...)}
}

func no(hint, format string, args ...any) sandbox.Support {
	return sandbox.Support{OK: sandbox.No, Reason: fmt.Sprintf(format, args...), Hint: hint}
}

func unknown(format string, args ...any) sandbox.Support {
	return sandbox.Support{OK: sandbox.Unknown, Reason: fmt.Sprintf(format, args...)}
}

// Print writes the table, each hint on a line of its own.
func Print(w io.Writer, rows []Row) error {
	width := 0
	for _, r := range rows {
		width = max(width, len(r.What))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-7s  %s\n", width, r.What, r.OK, printable(r.Reason))
		if r.Hint != "" {
			fmt.Fprintf(&b, "%-*s  hint: %s\n", width+9, "", printable(r.Hint))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printable keeps what other programs say of themselves on one line and out of
// the terminal's control.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
