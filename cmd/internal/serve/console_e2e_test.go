//go:build linux && e2e

package serve

import (
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/browser"
)

// The pages in a real browser, with names that a hostile server chose.
func TestPagesInABrowser(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	url, _ := console(t, map[string]string{"1_srv_1.jsonl": logOf("echo", "echo"), "2_srv_2.jsonl": logOf("other", "shadow"), "3_<b>_3.jsonl": logOf("<script>alert(1)</script>", "y"), "4_empty_4.jsonl": ""})
	b := browser.Start(t)
	for name, page := range map[string]string{"console-list": "", "console-drift": "drift", "console-log": "log?name=2_srv_2.jsonl"} {
		b.Inspect(t, name, url+page)
	}
	b.Open(url)
	var links int
	b.Eval(`document.querySelectorAll("tbody a").length`, &links)
	if links != 12 {
		t.Errorf("%d links in the list, not 12", links)
	}
}
