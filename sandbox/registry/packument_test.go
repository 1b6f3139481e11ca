package registry

import (
	"net/http"
	"net/url"
	"testing"
)

// The user's token goes with requests for packages alone, however their paths are spelled.
func TestOnlyPackagesAreAskedFor(t *testing.T) {
	base, err := url.Parse("https://registry.example/npm/")
	if err != nil {
		t.Fatal(err)
	}
	r := Registry{URL: base, role: rolePackuments}
	for path, want := range map[string]bool{
		"left-pad": true, "@scope%2fname": true, "@scope/name": true, "left-pad/-/left-pad-1.3.0.tgz": true, "-/ping": true,
		"-/npm/v1/tokens": false, "%2d/npm/v1/tokens": false, "%2D/whoami": false, "/-/whoami": false, "./-/whoami": false,
		"x/../-/whoami": false, "x/%2e%2e/-/whoami": false, "-": false, "-%2fwhoami": false,
	} {
		u, err := url.Parse(base.String() + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.check(http.MethodGet, u) == nil; got != want {
			t.Errorf("%s: allowed %v, want %v", path, got, want)
		}
	}
}
