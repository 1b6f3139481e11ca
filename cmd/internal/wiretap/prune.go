package wiretap

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/detect"
)

// PruneOptions say which logs to remove. A zero field chooses none.
type PruneOptions struct {
	// OlderThan is the age of a log that was last written so long ago.
	OlderThan time.Duration
	// Keep is how many logs may stay, the newest.
	Keep int
	// MaxBytes is how large the logs that stay may be together, the newest first.
	MaxBytes int64
	// Delete removes them; without it they are only named.
	Delete bool
	// Force removes logs with errors too. Otherwise they stay: a log that is not whole, or on
	// which a detector failed, is evidence.
	Force bool
	// Kept is told of each log that stays for an error, and why; nil for nobody.
	Kept func(name, why string)
	Now  time.Time
}

// Pruned is a log that goes.
type Pruned struct {
	Name string
	Size int64
}

// logName is what WireName makes, and glassport. What bears another name is not ours to remove.
var logName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z_.{0,32}_[0-9]+\.jsonl$`)

// damage says what is wrong with a log, "" for nothing.
func damage(root *os.Root, name string) string {
	f, err := root.Open(name)
	if err != nil {
		return "it cannot be opened"
	}
	defer f.Close()
	l, err := detect.Read(f, name, detect.Options{})
	switch {
	case err != nil:
		return "it cannot be read"
	case l.Failures > 0:
		return "a detector failed on it"
	case l.Stats.Unreadable > 0:
		return "it has lines that cannot be read"
	case l.Stats.Missing > 0:
		return "it lacks frames"
	}
	return ""
}

// Prune removes the logs of a directory that o names, in the order of their
// names. Nothing but regular files that are named as logs is looked at.
func Prune(dir string, o PruneOptions) ([]Pruned, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("session logs: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("session logs: %w", err)
	}
	var logs []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && logName.MatchString(e.Name()) {
			logs = append(logs, info)
		}
	}
	slices.SortFunc(logs, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	var gone []Pruned
	var size int64
	for i, info := range logs {
		size += info.Size()
		old := o.OlderThan > 0 && o.Now.Sub(info.ModTime()) >= o.OlderThan
		if !old && (o.Keep <= 0 || i < o.Keep) && (o.MaxBytes <= 0 || size <= o.MaxBytes) {
			continue
		}
		if why := damage(root, info.Name()); why != "" && !o.Force {
			if o.Kept != nil {
				o.Kept(info.Name(), why)
			}
			continue
		}
		if o.Delete {
			if err := root.Remove(info.Name()); err != nil {
				return gone, fmt.Errorf("session logs: %w", err)
			}
		}
		gone = append(gone, Pruned{Name: info.Name(), Size: info.Size()})
	}
	slices.SortFunc(gone, func(a, b Pruned) int { return cmp.Compare(a.Name, b.Name) })
	return gone, nil
}
