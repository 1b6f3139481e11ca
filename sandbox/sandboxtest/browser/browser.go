//go:build linux

package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// Browser is a headless Chromium, spoken to over two pipes: no port is opened.
type Browser struct {
	t       testing.TB
	in      io.Writer
	pipe    *os.File // what out reads
	out     *bufio.Reader
	id      int
	session string
	at      string // the page that is open
	// loaded are the documents that are shown whole, by their loaders.
	loaded map[string]bool
	// Requests are the URLs that pages asked for since the last open.
	Requests []string
	// Said are what pages wrote to the console, errors of the content policy among it.
	Said []string
}

// cdpMessage is an answer or an event of the DevTools protocol.
type cdpMessage struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Start starts Chromium without a network of its own and opens one page.
func Start(t testing.TB) *Browser {
	t.Helper()
	sandboxtest.Need(t, "browser")
	fromUs, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sandboxtest.Browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--hide-scrollbars", "--force-color-profile=srgb", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = fromUs.Close(), toUs.Close()
	t.Cleanup(func() {
		_ = toBrowser.Close()
		late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		late.Stop()
		_ = fromBrowser.Close()
		if t.Failed() {
			t.Logf("chromium: %.2000s", stderr.String())
		}
	})
	b := &Browser{t: t, in: toBrowser, pipe: fromBrowser, out: bufio.NewReader(fromBrowser), loaded: map[string]bool{}}
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
	return b
}

// silence is how long the browser may say nothing, on a machine that is busy.
const silence = 5 * time.Minute

// call sends a command and waits for its answer.
func (b *Browser) call(method string, params map[string]any, into any) {
	b.t.Helper()
	b.id++
	m := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		m["params"] = map[string]any{}
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(raw, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		a := b.next()
		if a.ID != b.id {
			continue
		}
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		if into != nil {
			if err := json.Unmarshal(a.Result, into); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// next reads one message and keeps what events tell.
func (b *Browser) next() cdpMessage {
	b.t.Helper()
	if err := b.pipe.SetReadDeadline(time.Now().Add(silence)); err != nil {
		b.t.Fatal(err)
	}
	raw, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser says no more: %v", err)
	}
	var m cdpMessage
	if err := json.Unmarshal(bytes.TrimRight(raw, "\x00"), &m); err != nil {
		b.t.Fatal(err)
	}
	switch m.Method {
	case "Network.requestWillBeSent":
		var p struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		b.Requests = append(b.Requests, p.Request.URL)
	case "Page.lifecycleEvent":
		var p struct{ LoaderID, Name string }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			b.t.Fatal(err)
		}
		b.loaded[p.LoaderID] = b.loaded[p.LoaderID] || p.Name == "load"
	case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		b.Said = append(b.Said, string(m.Params))
	}
	return m
}

// Open loads a page, by its URL, and waits until it is shown, which may be told before the
// command is answered.
func (b *Browser) Open(page string) {
	b.t.Helper()
	b.Requests, b.Said, b.at = nil, nil, page
	var to struct{ LoaderID string }
	b.call("Page.navigate", map[string]any{"url": page}, &to)
	for !b.loaded[to.LoaderID] {
		b.next()
	}
}

// Show sets the window's size, the scheme ("light", "dark") and the medium ("", "print").
func (b *Browser) Show(width int, scheme, media string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Shot is the page's upper part as PNG.
func (b *Browser) Shot(width, height int) []byte {
	b.t.Helper()
	var s struct {
		Data string `json:"data"`
	}
	b.call("Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": true, "optimizeForSpeed": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
	}, &s)
	png, err := base64.StdEncoding.DecodeString(s.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// Eval runs an expression in the page, as its tester and not as the page, and
// reads its value.
func (b *Browser) Eval(expression string, into any) {
	b.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("the page: %.1000s", r.ExceptionDetails)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(r.Result.Value, into); err != nil {
		b.t.Fatalf("%v: %.300s", err, r.Result.Value)
	}
}

// sameOrigin says that two URLs name one scheme, host and port.
func sameOrigin(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// Left are the requests that were for anything but the page's own origin.
func (b *Browser) Left() []string {
	return slices.DeleteFunc(slices.Clone(b.Requests), func(u string) bool {
		return u == b.at || strings.HasPrefix(u, "file://") || strings.HasPrefix(u, "data:") || strings.HasPrefix(b.at, "http") && sameOrigin(u, b.at)
	})
}
