package secrets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// Sum is the SHA-256 digest of a content.
type Sum [sha256.Size]byte

// Key says all that the verdict of Read hangs on, besides the rules: what it is given
// with the same key has the same verdict. sum is the content's.
func Key(name string, sum Sum, origin Origin) Sum {
	kind := byte(origin) << 1
	if isSettings(name) {
		kind |= 1
	}
	return sha256.Sum256(append(sum[:], kind))
}

// source is this package's own.
//
//go:embed content.go gitleaks.go key.go names.go tokens.go
var source embed.FS

// Rules is a digest of all that Read looks for: of gitleaks' rules, and of this package.
var Rules = sync.OnceValue(func() string {
	h := sha256.New()
	_, _ = h.Write([]byte(config.DefaultConfig))
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.HasPrefix(m.Path, "github.com/zricethezav/gitleaks/") {
				_, _ = h.Write([]byte(m.Version))
			}
		}
	}
	names, _ := fs.Glob(source, "*.go")
	for _, name := range names {
		data, _ := source.ReadFile(name)
		_, _ = h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil))
})
