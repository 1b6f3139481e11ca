//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/testdata/servers/stdio"
)

// words give a sandbox away. strace is allowed to be seen: it cannot hide.
var words = []string{"coalmine", "canary", "canaries", "sink", "probe", "trace"}

// tell is one word that was found.
type tell struct {
	Word  string `json:"word"`
	Where string `json:"where"`
	Text  string `json:"text"`
}

// search collects what gives the sandbox away.
type search struct {
	looked int
	found  []tell
	self   []string // texts that the caller chose, such as this program's path
}

func tellsTool(s *stdio.Server) {
	var hello string
	s.Seen = func(r stdio.Request) {
		if r.Method == "initialize" || r.Method == "server/discover" {
			hello += string(r.Params)
		}
	}
	s.Tools = tools("tells")
	s.Call = func(string, map[string]any) (string, error) {
		t := &search{found: []tell{}}
		t.all(hello)
		raw, err := json.Marshal(map[string]any{"looked": t.looked, "found": t.found})
		return string(raw), err
	}
}

// look searches one text.
func (t *search) look(where, text string) {
	t.looked++
	plain := strings.ToLower(text)
	for _, own := range t.self {
		plain = strings.ReplaceAll(plain, own, "")
	}
	plain = strings.ReplaceAll(plain, "strace", "")
	for _, word := range words {
		if i := strings.Index(plain, word); i >= 0 {
			t.found = append(t.found, tell{word, where, plain[max(0, i-40):min(len(plain), i+40)]})
		}
	}
}

func (t *search) file(path string) {
	if data, err := os.ReadFile(path); err == nil {
		t.look(path, string(data))
	}
}

func (t *search) link(path string) {
	if text, err := os.Readlink(path); err == nil {
		t.look(path, text)
	}
}

// names searches the names of a directory.
func (t *search) names(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		t.look(dir, e.Name())
	}
}

func (t *search) all(hello string) {
	if exe, err := os.Executable(); err == nil {
		t.self = append(t.self, strings.ToLower(exe), strings.ToLower(filepath.Dir(exe)))
	}
	for _, kv := range os.Environ() {
		t.look("environment", kv)
	}
	if host, err := os.Hostname(); err == nil {
		t.look("hostname", host)
	}
	t.look("clientInfo", hello)
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		for _, name := range []string{"comm", "cmdline", "environ", "cgroup"} {
			t.file(p + "/" + name)
		}
		for _, name := range []string{"exe", "cwd", "root"} {
			t.link(p + "/" + name)
		}
		fds, _ := filepath.Glob(p + "/fd/*")
		for _, fd := range fds {
			t.link(fd)
		}
	}
	for _, path := range []string{"/proc/self/mountinfo", "/proc/net/unix", "/etc/hosts", "/etc/hostname", "/etc/passwd", "/etc/group", "/etc/resolv.conf", "/etc/ld.so.preload"} {
		t.file(path)
	}
	cwd, _ := os.Getwd()
	for _, dir := range []string{"/", "/tmp", "/run", "/var/tmp", "/dev/shm", "/home", os.Getenv("HOME")} {
		t.names(dir)
	}
	for dir := cwd; dir != "" && dir != "/"; dir = filepath.Dir(dir) {
		t.names(filepath.Dir(dir))
	}
}
