package sinkhole

import (
	"testing"
)

func TestAllows(t *testing.T) {
	list := []string{"api.example.com", "*.example.org", "*.", ""}
	for host, want := range map[string]bool{
		"api.example.com": true, "API.Example.com.": true, "example.com": false, "x.api.example.com": false, "xapi.example.com": false,
		"a.example.org": true, "a.b.example.org": true, "example.org": false, "": false, "1.2.3.4": false, "other": false,
	} {
		if got := Allows(list, host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	if Allows([]string{"93.184.216.34", "::1"}, "93.184.216.34") || Allows([]string{"::1"}, "::1") {
		t.Error("an address is not a name")
	}
}
