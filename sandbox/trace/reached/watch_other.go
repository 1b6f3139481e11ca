//go:build !linux || !(amd64 || arm64)

package reached

import "errors"

// Watch cannot be had here.
type Watch struct{}

// Open fails.
func Open(int, Places) (*Watch, error) {
	return nil, errors.New("watch code: it needs Linux on amd64 or arm64")
}

// Reached has nothing to tell.
func (*Watch) Reached() ([]bool, error) { return nil, errors.New("watch code: it does not watch") }

// Close does nothing.
func (*Watch) Close() {}
