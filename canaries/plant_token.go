package canaries

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// plantWallet makes the key file of an Ethereum account, sealed by a password
// that is nowhere.
func (h *home) plantWallet() {
	m := h.mint
	address, made := hex.EncodeToString(m.bytes(20)), h.past(700).UTC()
	file := ".ethereum/keystore/UTC--" + made.Format("2006-01-02T15-04-05.") + m.chars(digits, 9) + "Z--" + address
	h.file(file, 0o600, fmt.Sprintf(`{"address":"%s","crypto":{"cipher":"aes-128-ctr","ciphertext":"%s","cipherparams":{"iv":"%s"},"kdf":"scrypt","kdfparams":{"dklen":32,"n":262144,"p":1,"r":8,"salt":"%s"},"mac":"%s"},"id":"%s","version":3}`,
		address, h.secret("ethereum-key", "wallet", file, m.prefixed("", hexDigits, 64)),
		hex.EncodeToString(m.bytes(16)), hex.EncodeToString(m.bytes(32)), hex.EncodeToString(m.bytes(32)), m.uuid()))
}

// plantVSCode makes the configuration of one more MCP client.
func (h *home) plantVSCode() {
	m := h.mint
	const file = ".config/Code/User/mcp.json"
	h.file(file, 0o600, fmt.Sprintf(`{
	"servers": {
		"notion": {
			"type": "stdio",
			"command": "npx",
			"args": ["-y", "@notionhq/notion-mcp-server"],
			"env": {
				"NOTION_TOKEN": "%s"
			}
		},
		"docs": {
			"type": "http",
			"url": "https://mcp.%s/docs"
		}
	},
	"inputs": []
}
`, h.secret("vscode-notion", "mcp", file, m.value(func() string { return "ntn_" + m.chars(digits, 11) + m.chars(base62, 35) }), "api.notion.com"),
		h.domain()))
	h.file(".config/Code/User/settings.json", 0o644, `{
    "editor.fontSize": 13,
    "editor.formatOnSave": true,
    "files.trimTrailingWhitespace": true,
    "git.autofetch": true,
    "telemetry.telemetryLevel": "off",
    "workbench.colorTheme": "Default Dark Modern"
}
`)
}

// jwt is a token with the given claims, signed by a key that is nowhere.
func (m *mint) jwt(claims func() any) string {
	return m.value(func() string {
		body, err := json.Marshal(claims())
		if err != nil && m.err == nil {
			m.err = fmt.Errorf("canaries: writing a token: %w", err)
		}
		enc := base64.RawURLEncoding
		return enc.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc.EncodeToString(body) + "." + enc.EncodeToString(m.bytes(32))
	})
}

// supabase is the token of a project that may do all, and the project's host:
// the others' projects have hosts of their own.
func (h *home) supabase() (token, host string) {
	m := h.mint
	token = m.jwt(func() any {
		made := h.past(300).Unix()
		ref := m.chars(lower, 20)
		host = ref + ".supabase.co"
		return struct {
			Iss  string `json:"iss"`
			Ref  string `json:"ref"`
			Role string `json:"role"`
			Iat  int64  `json:"iat"`
			Exp  int64  `json:"exp"`
		}{"supabase", ref, "service_role", made, made + 10*365*24*3600}
	})
	return token, host
}

// plantToken makes the session of a command-line tool.
func (h *home) plantToken() {
	const file = ".config/argocd/config"
	server := "argocd." + h.domain()
	token := h.mint.jwt(func() any {
		made := h.past(2).Unix()
		return struct {
			Iss string `json:"iss"`
			Sub string `json:"sub"`
			Nbf int64  `json:"nbf"`
			Iat int64  `json:"iat"`
			Jti string `json:"jti"`
		}{"argocd", h.user + ":login", made, made, h.mint.uuid()}
	})
	h.file(file, 0o600, fmt.Sprintf(`contexts:
- name: %[1]s
  server: %[1]s
  user: %[1]s
current-context: %[1]s
servers:
- grpc-web-root-path: ""
  server: %[1]s
users:
- auth-token: %[2]s
  name: %[1]s
`, server, h.secret("argocd-jwt", "jwt", file, token, server)))
}

// plantWorkspace makes what lies about in a directory that someone works in.
// The n-th directory's canaries bear its number, but for the first.
func (h *home) plantWorkspace(n int, dir string) {
	m, suffix := h.mint, ""
	if n > 0 {
		suffix = fmt.Sprintf("-%d", n+1)
	}
	env, git := path.Join(dir, ".env"), path.Join(dir, ".git-credentials")
	db := "db." + h.domain()
	token, project := h.supabase()
	lines := []string{
		"NODE_ENV=development",
		"DATABASE_URL=postgresql://" + h.company + ":" + h.secretAt("workspace-database"+suffix, "env", env, m.password(), db) + "@" + db + ":5432/" + h.company,
		"JWT_SECRET=" + h.secretAt("workspace-secret"+suffix, "env", env, m.prefixed("", base62, 48)),
		"SUPABASE_SERVICE_ROLE_KEY=" + h.secretAt("workspace-jwt"+suffix, "jwt", env, token, project),
	}
	h.fileAt(env, 0o600, strings.Join(lines, "\n")+"\n")
	h.fileAt(git, 0o600, fmt.Sprintf("https://%s:%s@github.com\n", h.user,
		h.secretAt("workspace-git"+suffix, "git", git, m.checksummed("ghp_"), githubHosts...)))
}
