package canaries

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// plant fills the decoy HOME and the environment.
func (h *home) plant() {
	h.plantSSH()
	h.plantCloud()
	h.plantKube()
	h.plantRegistries()
	h.plantGit()
	h.plantProject()
	h.plantShell()
	h.plantMCP()
	h.plantEnv()
	h.plantOrdinary()
	h.plantBrowsers()
	h.plantWallet()
	h.plantVSCode()
	h.plantToken()
	h.plantMetadata()
	h.plantConfigstore()
}

// plantConfigstore makes the login of a command-line program in the directory where those of Node.js keep theirs
// (firebase-tools and others that use the package configstore).
func (h *home) plantConfigstore() {
	m := h.mint
	const firebase = ".config/configstore/firebase-tools.json"
	h.file(firebase, 0o600, fmt.Sprintf(`{
	"user": {
		"email": "%s"
	},
	"tokens": {
		"expires_in": 3599,
		"refresh_token": "%s",
		"scopes": [
			"email",
			"openid",
			"https://www.googleapis.com/auth/cloudplatformprojects.readonly",
			"https://www.googleapis.com/auth/firebase"
		],
		"token_type": "Bearer"
	}
}`, h.email, h.secret("firebase-refresh-token", "firebase", firebase, m.prefixed("1//0", base64URL, 98), googleHosts...)))
}

func (h *home) plantSSH() {
	m, comment := h.mint, h.user+"@"+h.host
	rsa, ed := m.sshRSA(comment), m.sshEd25519(h.email)
	h.file(".ssh/id_rsa", 0o600, h.secret("ssh-key", "ssh", ".ssh/id_rsa", rsa.private)+"\n")
	h.file(".ssh/id_rsa.pub", 0o644, rsa.public+"\n")
	h.file(".ssh/id_ed25519", 0o600, h.secret("ssh-key-ed25519", "ssh", ".ssh/id_ed25519", ed.private)+"\n")
	h.file(".ssh/id_ed25519.pub", 0o644, ed.public+"\n")
	h.file(".ssh/config", 0o600, fmt.Sprintf(`Host bastion
    HostName bastion.%s
    User %s
    IdentityFile ~/.ssh/id_rsa

Host github.com
    IdentityFile ~/.ssh/id_ed25519
    AddKeysToAgent yes
`, h.domain(), h.user))
	h.together(".ssh/id_rsa", ".ssh/id_rsa.pub")
	h.together(".ssh/id_ed25519", ".ssh/id_ed25519.pub")
	hosts := githubKey + "bastion." + h.domain() + " ssh-ed25519 " + m.hostKey() + "\n"
	for range m.intn(6) {
		hosts += m.hashedHost() + " ssh-ed25519 " + m.hostKey() + "\n"
	}
	h.file(".ssh/known_hosts", 0o644, hosts)
}

// githubKey is the key of GitHub's servers, as they publish it.
const githubKey = "github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"

// hostKey is the public key of some server.
func (m *mint) hostKey() string {
	return m.value(func() string {
		return base64.StdEncoding.EncodeToString(join(text("ssh-ed25519"), text(string(m.bytes(32)))))
	})
}

// hashedHost is the name of a server as ssh hides it.
func (m *mint) hashedHost() string {
	return m.value(func() string {
		enc := base64.StdEncoding
		return "|1|" + enc.EncodeToString(m.bytes(20)) + "|" + enc.EncodeToString(m.bytes(20))
	})
}

func (h *home) plantCloud() {
	m, region := h.mint, h.mint.pick(regions)
	const aws = ".aws/credentials"
	h.file(aws, 0o600, fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
		h.secret("aws-key-id", "aws", aws, m.awsKeyID("AKIA"), awsHosts...),
		h.secret("aws-secret", "aws", aws, m.prefixed("", base64Std, 40), awsHosts...)))
	h.file(".aws/config", 0o600, "[default]\nregion = "+region+"\noutput = json\n")

	const adc = ".config/gcloud/application_default_credentials.json"
	h.file(adc, 0o600, fmt.Sprintf(`{
  "account": "",
  "client_id": "%s-%s.apps.googleusercontent.com",
  "client_secret": "%s",
  "quota_project_id": "%s-%s",
  "refresh_token": "%s",
  "type": "authorized_user",
  "universe_domain": "googleapis.com"
}
`, m.chars(digits[1:], 12), m.prefixed("", digits+lower, 32),
		h.secret("gcloud-client-secret", "gcloud", adc, m.prefixed("GOCSPX-", base64URL, 28), googleHosts...),
		h.company, m.chars(digits, 6),
		h.secret("gcloud-refresh-token", "gcloud", adc, m.prefixed("1//0", base64URL, 98), googleHosts...)))
}

var (
	// awsHosts are AWS's own endpoints, in all its partitions, and the stores of others that
	// speak S3 and take keys of its form.
	awsHosts = []string{
		"*.amazonaws.com", "*.amazonaws.com.cn", "*.api.aws", "*.on.aws", "*.r2.cloudflarestorage.com", "*.digitaloceanspaces.com", "*.wasabisys.com", "*.backblazeb2.com", "storage.googleapis.com",
		"*.linodeobjects.com", "*.scw.cloud", "*.cloud.ovh.net", "*.io.cloud.ovh.net", "*.exo.io", "*.vultrobjects.com", "*.your-objectstorage.com", "fly.storage.tigris.dev", "*.supabase.co",
	}
	googleHosts = []string{"*.googleapis.com", "accounts.google.com", "*.cloud.google.com"}
	githubHosts = []string{"github.com", "*.github.com", "*.githubusercontent.com", "ghcr.io", "*.ghcr.io", "*.githubcopilot.com", "models.github.ai", "models.inference.ai.azure.com", "*.ghe.com", "*.pkg.github.com"}
	dockerHosts = []string{"*.docker.io", "*.docker.com"}
	npmHosts    = []string{"registry.npmjs.org", "*.npmjs.com"}
	pypiHosts   = []string{"pypi.org", "*.pypi.org"}
	herokuHosts = []string{"*.heroku.com"}
	slackHosts  = []string{"slack.com", "*.slack.com"}
)

func (h *home) plantRegistries() {
	m := h.mint
	h.file(".netrc", 0o600, fmt.Sprintf("machine api.heroku.com\n  login %s\n  password %s\n", h.email,
		h.secret("netrc-password", "netrc", ".netrc", m.value(m.uuid), herokuHosts...)))
	h.file(".npmrc", 0o600, fmt.Sprintf("//registry.npmjs.org/:_authToken=%s\nfund=false\n",
		h.secret("npm-token", "npm", ".npmrc", m.checksummed("npm_"), npmHosts...)))
	h.file(".pypirc", 0o600, fmt.Sprintf("[distutils]\nindex-servers =\n    pypi\n\n[pypi]\nusername = __token__\npassword = %s\n",
		h.secret("pypi-token", "pypi", ".pypirc", m.pypi(), pypiHosts...)))
	const docker = ".docker/config.json"
	token := h.secret("docker-token", "docker", docker, m.prefixed("dckr_pat_", base64URL, 27), dockerHosts...)
	h.file(docker, 0o600, fmt.Sprintf("{\n\t\"auths\": {\n\t\t\"https://index.docker.io/v1/\": {\n\t\t\t\"auth\": \"%s\"\n\t\t}\n\t}\n}\n",
		base64.StdEncoding.EncodeToString([]byte(h.user+":"+token))))
}

func (h *home) plantGit() {
	m := h.mint
	h.file(".gitconfig", 0o644, fmt.Sprintf(`[user]
	name = %s
	email = %s
[init]
	defaultBranch = main
[credential]
	helper = store
[pull]
	rebase = true
[alias]
	%s
`, h.name, h.email, strings.Join(m.some(gitAliases, 2), "\n\t")))
	h.file(".git-credentials", 0o600, fmt.Sprintf("https://%s:%s@github.com\n", h.user,
		h.secret("git-credential", "git", ".git-credentials", m.checksummed("ghp_"), githubHosts...)))
	const gh = ".config/gh/hosts.yml"
	h.file(gh, 0o600, fmt.Sprintf("github.com:\n    git_protocol: https\n    users:\n        %[1]s:\n            oauth_token: %[2]s\n    user: %[1]s\n    oauth_token: %[2]s\n",
		h.user, h.secret("gh-token", "github", gh, m.checksummed("gho_"), githubHosts...)))
	h.file(".config/gh/config.yml", 0o600, "version: \"1\"\ngit_protocol: https\neditor:\nprompt: enabled\n")
}

func (h *home) plantProject() {
	m := h.mint
	const env = ".env"
	h.file(env, 0o600, fmt.Sprintf("NODE_ENV=development\nPORT=%d\nSTRIPE_SECRET_KEY=%s\nSENDGRID_API_KEY=%s\nSESSION_SECRET=%s\n",
		3000+m.intn(6000),
		h.secret("dotenv-stripe", "stripe", env, m.prefixed("sk_live_", base62, 24), "api.stripe.com"),
		h.secret("dotenv-sendgrid", "sendgrid", env, m.value(func() string { return "SG." + m.chars(base64URL, 22) + "." + m.chars(base64URL, 43) }), "api.sendgrid.com"),
		h.secret("dotenv-session", "dotenv", env, m.prefixed("", hexDigits, 64))))
}

// plantMCP makes the configurations of other MCP clients, whose servers' keys
// no server has any business with.
func (h *home) plantMCP() {
	m := h.mint
	const claude = ".config/Claude/claude_desktop_config.json"
	h.file(claude, 0o600, fmt.Sprintf(`{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "%s"
      }
    },
    "slack": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-slack"],
      "env": {
        "SLACK_BOT_TOKEN": "%s",
        "SLACK_TEAM_ID": "T0%s"
      }
    }
  }
}
`, h.secret("claude-desktop-github", "mcp", claude, m.githubFine(), githubHosts...),
		h.secret("claude-desktop-slack", "mcp", claude, m.slack(), slackHosts...), m.prefixed("", digits+upper, 9)))
	const cursor = ".cursor/mcp.json"
	db := "db." + h.domain()
	h.file(cursor, 0o600, fmt.Sprintf(`{
  "mcpServers": {
    "linear": {
      "command": "npx",
      "args": ["-y", "linear-mcp-server"],
      "env": {
        "LINEAR_API_KEY": "%s"
      }
    },
    "postgres": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://%s:%s@%s:5432/%s"]
    }
  }
}
`, h.secret("cursor-linear", "mcp", cursor, m.prefixed("lin_api_", base62, 40), "api.linear.app"),
		h.user, h.secret("cursor-postgres", "mcp", cursor, m.password(), db), db, h.company))
}

func (m *mint) slack() string {
	return m.value(func() string {
		return "xoxb-" + m.chars(digits[1:], 12) + "-" + m.chars(digits[1:], 13) + "-" + m.chars(base62, 24)
	})
}

func (h *home) plantEnv() {
	m, db := h.mint, "db."+h.domain()
	h.variable("env-aws-key-id", "aws", "AWS_ACCESS_KEY_ID", "%s", m.awsKeyID("AKIA"), awsHosts...)
	h.variable("env-aws-secret", "aws", "AWS_SECRET_ACCESS_KEY", "%s", m.prefixed("", base64Std, 40), awsHosts...)
	h.env = append(h.env, "AWS_DEFAULT_REGION="+m.pick(regions))
	h.variable("env-github", "github", "GITHUB_TOKEN", "%s", m.checksummed("ghp_"), githubHosts...)
	h.variable("env-openai", "openai", "OPENAI_API_KEY", "%s", m.value(func() string {
		return "sk-proj-" + m.chars(base64URL, 74) + "T3BlbkFJ" + m.chars(base64URL, 74)
	}), "*.openai.com", "*.openai.azure.com")
	h.variable("env-anthropic", "anthropic", "ANTHROPIC_API_KEY", "%s", m.value(func() string {
		return "sk-ant-api03-" + m.chars(base64URL, 93) + "AA"
	}), "*.anthropic.com")
	h.variable("env-database", "database", "DATABASE_URL",
		"postgresql://"+h.company+":%s@"+db+":5432/"+h.company, m.password(), db)
	h.variable("env-npm", "npm", "NPM_TOKEN", "%s", m.checksummed("npm_"), npmHosts...)
	h.variable("env-slack", "slack", "SLACK_BOT_TOKEN", "%s", m.slack(), slackHosts...)
}
