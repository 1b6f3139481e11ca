package doctor

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

func TestReadOption(t *testing.T) {
	const text = "CONFIG_NFT_TPROXY_X=y\n# CONFIG_A is not set\nCONFIG_NFT_TPROXY=m\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	for _, c := range []struct {
		option, want string
		packed       bool
	}{
		{"CONFIG_NFT_TPROXY", "m", false},
		{"CONFIG_NFT_TPROXY", "m", true},
		{"CONFIG_A", "", false},
	} {
		in := strings.NewReader(text)
		if c.packed {
			in = strings.NewReader(packed.String())
		}
		if got, err := readOption(in, c.option, c.packed); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.option, got, err)
		}
	}
	if _, err := readOption(strings.NewReader("no gzip"), "CONFIG_A", true); err == nil {
		t.Error("what is not packed was unpacked")
	}
}
