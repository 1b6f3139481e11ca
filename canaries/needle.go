package canaries

import (
	"encoding/base64"
	"regexp"
	"strings"
)

const (
	// window is the length of the pieces into which a longer secret is cut, so
	// that a part of it, or a text that wraps its lines, is recognised too.
	// Twenty-four characters of base 64 are 144 bits: nobody meets them by chance.
	window = 24
	// shortest is the least length of a needle.
	shortest = 12
)

// cutter says by which texts secrets are recognised, and how long each has to be.
type cutter struct {
	needles func(Canary) []string
	least   int
}

// decoys is the cutter of decoys, whose values are random and long.
var decoys = cutter{needles, shortest}

// publicPart matches what all secrets of a shape begin with: it proves nothing.
var publicPart = regexp.MustCompile(`^(pypi-AgEIcHlwaS5vcmcCJ|github_pat_|gh[a-z]_|npm_|dckr_pat_|glpat-|lin_api_|sk-proj-|sk-ant-api03-|sk_live_|xoxb-|GOCSPX-|SG\.|1//0|AKIA|ASIA|IQoJb3JpZ2luX2VjE|ya29\.c\.|ntn_|kubeconfig-u-[a-z0-9]+:|eyJ[\w-]+\.eyJ[\w-]+\.|MEIEEPgAAAAAAAAAAAAAAAAAAAEwFAYIKoZIhvcNAwcECA?)`)

// needles are the texts of which each proves that the canary's value, or a
// good part of it, is there.
func needles(c Canary) []string {
	v := strings.TrimSpace(c.Value)
	if strings.HasPrefix(v, "-----BEGIN ") {
		return pemNeedles(v)
	}
	out := windows(v[len(publicPart.FindString(v)):])
	if c.ID == chromeLogin {
		// The file holds the sealed form, and a thief may take it as it is.
		out = append(out, windows(string(chromeSeal(v)[len("v10"):]))...)
	}
	return out
}

// windows cuts a text into pieces that cover it, the last one flush with its end.
func windows(s string) []string {
	if len(s) < shortest {
		return nil
	}
	var out []string
	for len(s) > window {
		out = append(out, s[:window])
		s = s[min(window, len(s)-window):]
	}
	return append(out, s)
}

// pemNeedles are pieces of the lines that hold the private half of a key. What
// a key of this kind always says, and what its public half says, is left out.
func pemNeedles(pem string) []string {
	lines := strings.Split(pem, "\n")
	var body []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "-----") && !strings.Contains(line, ":") {
			body = append(body, line)
		}
	}
	all := strings.Join(body, "")
	// Most formats have the public half first, in at most half of the whole.
	from, to := len(all)/2, len(all)-4
	if strings.HasPrefix(pem, "-----BEGIN EC PRIVATE KEY-----") {
		from, to = (7*8+5)/6, 39*8/6 // a number, behind seven bytes that are always the same
	}
	if blob, err := base64.StdEncoding.DecodeString(all); err == nil {
		if a, b, ok := sshSecret(blob); ok {
			from, to = (a*8+5)/6, b*8/6
		}
	}
	var out []string
	pos := 0
	for _, line := range body {
		a, b := max(from-pos, 0), min(to-pos, len(line))
		if a < b {
			out = append(out, windows(line[a:b])...)
		}
		pos += len(line)
	}
	return out
}
