package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Each container of the manifests starts a command with flags that it has.
func TestManifestsStartCommands(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(moduleRoot, "deploy", "kubernetes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := yaml.NewDecoder(bytes.NewReader(data))
		for {
			var doc any
			if err := d.Decode(&doc); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, args := range arguments(doc) {
				seen++
				if err := checkCommand("coalmine " + strings.Join(args, " ")); err != nil {
					t.Errorf("%s: coalmine %s: %v", file, strings.Join(args, " "), err)
				}
			}
		}
	}
	if seen != 3 {
		t.Errorf("%d commands", seen)
	}
}

// arguments are the members "args" of a document.
func arguments(v any) (out [][]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			list, ok := member.([]any)
			if name != "args" || !ok {
				out = append(out, arguments(member)...)
				continue
			}
			var words []string
			for _, w := range list {
				text, _ := w.(string)
				words = append(words, text)
			}
			out = append(out, words)
		}
	case []any:
		for _, member := range v {
			out = append(out, arguments(member)...)
		}
	}
	return out
}

// The action prints each format that coalmine has.
func TestTheActionTakesAllFormats(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(moduleRoot, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "error: the format is not one of " + strings.Join(formats, ", ") + `"`; !strings.Contains(string(data), want) {
		t.Errorf("action.yml does not say %s", want)
	}
}
