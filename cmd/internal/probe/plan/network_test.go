package plan

import (
	"slices"
	"testing"
)

func TestCheckNetwork(t *testing.T) {
	for _, good := range []string{NetworkSinkhole, NetworkRefuse, NetworkNone, "allow=api.example.com", "allow=API.example.com., *.example.net", "loopback,allow=api.example.com"} {
		if err := CheckNetwork(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "open", "allow", "allow=", "allow=a,,b", "allow=*", "allow=*.", "allow=127.0.0.1", "allow=::1", "allow=a:443", "allow=https://a", "allow=a b", "allow=.a", "loopback,", "loopback,refuse", "loopback,loopback,allow=a", "allow=a,loopback,allow=b"} {
		if CheckNetwork(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, before := range []string{"", "loopback,"} {
		if got, err := AllowedHosts(before + "allow=API.example.com., *.example.net"); err != nil || !slices.Equal(got, []string{"api.example.com", "*.example.net"}) {
			t.Errorf("%q %v", got, err)
		}
	}
}
