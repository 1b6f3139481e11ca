package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// said runs a command and returns its status and all that it prints.
func said(args ...string) (status int, out string) {
	var o bytes.Buffer
	status = Main(args, strings.NewReader(""), &o, &o)
	return status, o.String()
}

// A verdict is signed once, and neither changed, nor taken for another target, report or key.
func TestAttestAndVerify(t *testing.T) {
	t.Parallel()
	dir, run := t.TempDir(), keptRun(t, "local-strace-findings-leaky")
	in := func(name string) string { return filepath.Join(dir, name) }
	digest := "sha256:" + strings.Repeat("ab", 32)
	if status, out := said("attest", "--new-key", in("key")); status != ExitOK {
		t.Fatal(out)
	}
	if status, out := said("attest", "--new-key", in("key")); status != ExitUsage || !strings.Contains(out, "exists") {
		t.Errorf("a key is written over: %d %s", status, out)
	}
	if info, err := os.Stat(in("key")); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the private key: %v, %v", info.Mode(), err)
	}
	if status, out := said("attest", "--key", in("key"), "--out", in("out"), run); status != ExitUsage || !strings.Contains(out, "target.json") {
		t.Errorf("a run that does not say what it was of: %d %s", status, out)
	}
	target := `{"schema":"coalmine/target/v1","name":"leaky","digest":"` + digest + `","effort":{"calls":8,"timeout":1,"callTimeout":1,"oracleTime":1,"shrinkTime":1,"idle":1}}`
	if err := os.WriteFile(filepath.Join(run, "target.json"), []byte(target), 0o600); err != nil {
		t.Fatal(err)
	}
	// The run was made long ago.
	status, out := said("attest", "--key", in("key"), "--out", in("out"), "--valid", "87600h", run)
	if status != ExitOK || !strings.HasPrefix(out, digest+" leaky findings, until ") {
		t.Fatal(status, out)
	}
	signed := in("out/" + strings.Repeat("ab", 32) + ".jsonl")
	line, err := os.ReadFile(signed)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"forged": strings.Replace(string(line), `"payload":"ey`, `"payload":"eY`, 1), "none": "\n"} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, out := said("attest", "--new-key", in("other")); status != ExitOK {
		t.Fatal(out)
	}
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"signed":         {[]string{"--key", in("key.pub"), signed}, ExitOK, digest + " leaky findings by coalmine "},
		"one of two":     {[]string{"--key", in("other.pub"), "--key", in("key.pub"), signed}, ExitOK, "findings by"},
		"this report":    {[]string{"--key", in("key.pub"), "--report", filepath.Join(run, "report.json"), "--digest", digest, signed}, ExitOK, "findings by"},
		"forged":         {[]string{"--key", in("key.pub"), in("forged")}, ExitFindings, "refused: "},
		"another key":    {[]string{"--key", in("other.pub"), signed}, ExitFindings, "refused: no trusted key signed it"},
		"another target": {[]string{"--key", in("key.pub"), "--digest", "sha256:00", signed}, ExitFindings, "refused: it is for another target"},
		"another report": {[]string{"--key", in("key.pub"), "--report", in("none"), signed}, ExitFindings, "refused: it is for another report"},
		"nothing":        {[]string{"--key", in("key.pub"), in("none")}, ExitUsage, "holds no attestation"},
		"a private key":  {[]string{"--key", in("key"), signed}, ExitUsage, "holds a private key"},
		"no key":         {[]string{signed}, ExitUsage, "verify needs a --key"},
	} {
		if status, out := said(append([]string{"verify"}, c.args...)...); status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%s: %d %s", name, status, out)
		}
	}
	if status, out := said("attest", "--key", in("key"), "--out", in("out"), "--valid", "1m", run); status != ExitOK {
		t.Fatal(out)
	}
	if status, out := said("verify", "--key", in("key.pub"), signed); status != ExitFindings || !strings.Contains(out, "refused: it expired at ") {
		t.Errorf("expired: %d %s", status, out)
	}
}

// What verdicts exclude is said before anything runs.
func TestVerdictFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--verdicts", dir}, {"--verdicts-key", dir}, {"--verdicts", dir, "--verdicts-key", filepath.Join(dir, "none")}, {"--verdicts", dir, "--verdicts-key", dir, "--since", dir},
	} {
		if status, out := said(append(append([]string{"probe"}, args...), "--", "true")...); status != ExitUsage || !strings.Contains(out, "hint: ") {
			t.Errorf("%q: %d %s", args, status, out)
		}
	}
}

func TestCommentNeedsAWorkflow(t *testing.T) {
	for _, name := range []string{"GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_TOKEN", "GITHUB_EVENT_PATH"} {
		t.Setenv(name, "")
	}
	if status, out := said("comment"); status != ExitUsage || !strings.Contains(out, "is not set") {
		t.Errorf("%d %s", status, out)
	}
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"merge_group":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GITHUB_API_URL", "http://127.0.0.1:1")
	t.Setenv("GITHUB_REPOSITORY", "o/r")
	t.Setenv("GITHUB_TOKEN", "secret")
	t.Setenv("GITHUB_EVENT_PATH", event)
	if status, out := said("comment"); status != ExitOK || !strings.Contains(out, "no pull request") {
		t.Errorf("%d %s", status, out)
	}
}
