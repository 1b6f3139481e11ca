package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/drift"
)

// console serves the pages of a directory with these files, and returns their address.
func console(t *testing.T, files map[string]string) (url, dir string) {
	t.Helper()
	root, dir := directory(t, files)
	ctx, cancel := context.WithCancel(context.Background())
	c, l, err := Listen(ctx, "127.0.0.1:0", Options{Root: root, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		root.Close()
	})
	return c.URL(), dir
}

// page is the answer to one request.
func page(t *testing.T, method, url, host string) (status int, head http.Header, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(data)
}

func TestPages(t *testing.T) {
	const evil = `<img src=x onerror=alert(1)>`
	url, _ := console(t, map[string]string{"1_srv_1.jsonl": logOf("echo", "echo"), "2_srv_2.jsonl": logOf("other", "shadow"), "3_<b>&_3.jsonl": logOf(evil, "y"), "4_empty_4.jsonl": ""})
	for _, x := range []struct {
		page string
		want []string
	}{
		{"", []string{"2_srv_2.jsonl", "HOSTILE OR HALLUCINATED", "tool_poisoning", "4 logs", "no frame of a session", "3_&lt;b&gt;&amp;_3.jsonl"}},
		{"?page=99", []string{"1_srv_1.jsonl"}},
		{"log?name=2_srv_2.jsonl", []string{"<!DOCTYPE html>", "shadow", "CM405"}},
		{"log?name=2_srv_2.jsonl&format=json", []string{`"schema": "coalmine/report/v1"`}},
		{"log?name=2_srv_2.jsonl&format=sarif", []string{`"2.1.0"`, "2_srv_2.jsonl"}},
		{"log?name=2_srv_2.jsonl&format=markdown", []string{"CM405"}},
		{"log?name=3_%3Cb%3E%26_3.jsonl", []string{"CM405"}},
		{"drift", []string{"new_fabricated_tool", "Drift"}},
	} {
		status, head, got := page(t, http.MethodGet, url+x.page, "")
		for _, w := range x.want {
			if !strings.Contains(got, w) {
				t.Errorf("%q: no %q in\n%.3000s", x.page, w, got)
			}
		}
		if policy := head.Get("Content-Security-Policy"); status != http.StatusOK || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") || head.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%q: %d %v", x.page, status, head)
		}
		if strings.HasPrefix(head.Get("Content-Type"), "text/html") && (strings.Contains(got, "<img src=x") || strings.Contains(got, "<b>&") || regexp.MustCompile(`(?i)<script`).MatchString(got)) {
			t.Errorf("%q has markup of the server's", x.page)
		}
	}
}

// A list of several pages shows each log once.
func TestPagesOfTheList(t *testing.T) {
	files := map[string]string{}
	for i := range perPage + 3 {
		files[string(rune('a'+i))+"_srv_1.jsonl"] = logOf("echo", "echo")
	}
	url, dir := console(t, files)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	logs, err := drift.Logs(root)
	if err != nil || len(logs) != perPage+3 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	_, _, first := page(t, http.MethodGet, url, "")
	_, _, second := page(t, http.MethodGet, url+"?page=1", "")
	for _, l := range logs {
		if strings.Contains(first, ">"+l+"<") == strings.Contains(second, ">"+l+"<") {
			t.Errorf("%s is on both pages or on none", l)
		}
	}
	if !strings.Contains(first, `href="?page=1"`) || !strings.Contains(second, `href="?page=0"`) || strings.Contains(second, "Older") {
		t.Error("the pages do not lead to each other")
	}
}

// Who lacks the secret path, comes by another name (DNS rebinding), or wants more than to look,
// gets nothing; and nothing outside the directory is read.
func TestPagesRefuse(t *testing.T) {
	url, dir := console(t, map[string]string{"a_srv_1.jsonl": logOf("echo", "echo")})
	outside := filepath.Join(filepath.Dir(dir), "outside.jsonl")
	if err := os.WriteFile(outside, []byte(logOf("private_tool", "x")), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link.jsonl": outside, "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	base := url[:strings.Index(url[len("http://"):], "/")+len("http://")]
	port := base[strings.LastIndex(base, ":"):]
	for _, x := range []struct {
		method, url, host string
		want              int
	}{
		{"GET", url, "", 200},
		{"HEAD", url, "localhost" + port, 200},
		{"GET", base + "/", "", 404},
		{"GET", base + "/guess/", "", 404},
		{"GET", base + "/guess/log?name=a_srv_1.jsonl", "", 404},
		{"GET", url, "attacker.example" + port, 421},
		{"GET", url, "127.0.0.1", 421},
		{"POST", url, "", 405},
		{"DELETE", url + "log?name=a_srv_1.jsonl", "", 405},
		{"GET", url + "other", "", 404},
		{"GET", url + "log?name=a_srv_1.jsonl&format=exe", "", 404},
		{"GET", url + "log?name=link.jsonl", "", 404},
		{"GET", url + "log?name=up/outside.jsonl", "", 404},
		{"GET", url + "log?name=../outside.jsonl", "", 404},
		{"GET", url + "log?name=" + outside, "", 404},
		{"GET", url + "log?name=up/session.jsonl", "", 404},
		{"GET", url + "log?name=/etc/passwd", "", 404},
		{"GET", url + "log", "", 404},
	} {
		status, _, body := page(t, x.method, x.url, x.host)
		if status != x.want || strings.Contains(body, "private_tool") || strings.Contains(body, "root:") {
			t.Errorf("%s %s as %q: %d, %.200s", x.method, strings.Replace(x.url, url, "…/", 1), x.host, status, body)
		}
	}
	again, _ := console(t, map[string]string{"a.jsonl": ""})
	if again[strings.LastIndex(again[:len(again)-1], "/"):] == url[strings.LastIndex(url[:len(url)-1], "/"):] {
		t.Error("two starts have the same secret")
	}
}

func TestPagesOnlyOnLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", ":0", "example.com:80", "[::]:0", "127.0.0.1", ""} {
		if _, l, err := Listen(t.Context(), address, Options{}); !errors.Is(err, ErrNotLoopback) {
			t.Errorf("%q: %v", address, err)
			if err == nil {
				l.Close()
			}
		}
	}
}
