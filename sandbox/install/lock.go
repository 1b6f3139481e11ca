package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// lock is a package-lock.json of version 2 or 3.
type lock struct {
	Packages map[string]locked `json:"packages"`
}

type locked struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Resolved  string `json:"resolved"`
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
	InBundle  bool   `json:"inBundle"`
	Optional  bool   `json:"optional"`
	// DevOptional packages are optional to one of those that need them.
	DevOptional bool `json:"devOptional"`
}

// decodeLock reads a lock, and holds no more of it than maxLocked entries.
func decodeLock(data []byte) (*lock, error) {
	l := &lock{}
	d := json.NewDecoder(bytes.NewReader(data))
	err := members(d, func(key string) error {
		if key != "packages" {
			return skipValue(d)
		}
		l.Packages = map[string]locked{} // of several, the last counts, as for npm
		return members(d, func(path string) error {
			var p locked
			if err := d.Decode(&p); err != nil {
				return err
			}
			if l.Packages[path] = p; len(l.Packages) > maxLocked {
				return withHint("", "it has more than %d dependencies, and no more are fetched", maxLocked)
			}
			return nil
		})
	})
	var hint *Error
	switch {
	case errors.As(err, &hint):
		return nil, err
	case err == nil:
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return l, nil
		}
		err = cmp.Or(err, errors.New("something follows it"))
	}
	return nil, fmt.Errorf("read npm's lock file: %w", err)
}

// members calls f for each member of the object that comes next, which f has to take; null has none.
func members(d *json.Decoder, f func(key string) error) error {
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('{') {
		return errors.New("it is no object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // the decoder takes nothing else for a key
		if err := f(name); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// skipValue passes over the value that comes next, and holds none of it.
func skipValue(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
