package secrets

import (
	"path"
	"slices"
	"strings"
)

// files are the names, in small letters, of files that hold what a user authenticates with.
var files = []string{
	".git-credentials", ".npmrc", ".netrc", "_netrc", ".pypirc", ".yarnrc", ".yarnrc.yml", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf",
	".htpasswd", ".dockercfg", ".dockerconfigjson", ".vault-token", ".terraformrc", "terraform.rc", "credentials.tfrc.json",
	".s3cfg", ".boto", ".databrickscfg", ".sentryclirc", ".snowsql", ".hgrc", ".cargo-credentials", ".authinfo", ".authinfo.gpg", ".netrc.gpg",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "secring.gpg", "secring.kbx", "trustdb.gpg",
	"kubeconfig", "credentials.json", "application_default_credentials.json", "rclone.conf", "master.key",
	"wallet.dat", "default_wallet", "exodus.wallet", "seed.seco", "wallet.keys", "logins.json", "key3.db", "key4.db", "login data", "cookies.sqlite", "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml",
}

// patterns are the same for names that vary, for path.Match.
var patterns = []string{
	".env*", "*.env", "gha-creds-*.json", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json",
	"*.jks", "*.jceks", "*.bks", "*.keystore", "*.p12", "*.pfx", "*.ppk", "*.kdb", "*.kdbx", "*.ovpn", "*.keychain", "*.keychain-db", "*.kwl", "*.pkcs12", "*.psafe3", "*.agekey",
	"*.kubeconfig", "kubeconfig*.yaml", "kubeconfig*.yml", "kubeconfig*.json", "kubeconfig*.conf", "client_secret*.json",
	"*service-account*.json", "*service_account*.json", "*serviceaccount*.json", "*-firebase-adminsdk-*.json",
}

// directories hold nothing else, by the end of their path.
var directories = []string{
	".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud", ".password-store", ".1password", ".git-credential-cache", ".terraform.d", ".oci", ".bluemix", ".snowflake", ".aliyun",
	".config/gcloud", ".config/gh", ".config/glab-cli", ".config/op", ".config/age", ".config/sops", ".config/doctl", ".config/hub", ".config/rclone", ".config/git",
	".local/share/keyrings", ".local/share/kwalletd", "private-keys-v1.d", ".mozilla", ".config/google-chrome", ".config/chromium", ".config/bravesoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera", ".thunderbird",
	".bitcoin", ".litecoin", ".dogecoin", ".electrum", ".electrum/wallets", ".ethereum", ".ethereum/keystore", ".bitmonero", "monero/wallets", ".config/solana", ".config/exodus", ".config/atomic", ".config/ledger live",
	".config/hcloud", ".config/heroku", ".config/github-copilot", ".config/argocd", ".config/1password", ".config/bitwarden", ".config/signal", ".local/share/telegramdesktop",
}

// within names a file by its directory as well.
var within = []string{".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/nuget.config", ".config/pip/pip.conf", ".pip/pip.conf", ".composer/auth.json",
	".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", "opencode/auth.json", "huggingface/token", "huggingface/stored_tokens", ".huggingface/token", ".kaggle/kaggle.json",
	".config/stripe/config.toml", ".wrangler/config/default.toml", "com.vercel.cli/auth.json", ".netlify/config.json", ".config/netlify/config.json", ".fly/config.yml", ".railway/config.json", ".supabase/access-token", ".expo/state.json",
	"configstore/firebase-tools.json", "configstore/snyk.json", ".ngrok2/ngrok.yml", "ngrok/ngrok.yml", "filezilla/sitemanager.xml", "filezilla/recentservers.xml", ".pulumi/credentials.json", ".circleci/cli.yml", ".config/scw/config.yaml", ".config/linode-cli"}

// fileNames are files as a set.
var fileNames = func() map[string]bool {
	set := map[string]bool{}
	for _, f := range files {
		set[f] = true
	}
	return set
}()

// globs are patterns, cut at their asterisks: no other character is special in them.
var globs = func() [][]string {
	var all [][]string
	for _, p := range patterns {
		all = append(all, strings.Split(p, "*"))
	}
	return all
}()

// Named reports whether a file of this path, with slashes, holds credentials by its name.
// Small and capital letters are the same.
func Named(file string) bool {
	file = strings.ToLower(file)
	name := path.Base(file)
	return fileNames[name] ||
		slices.ContainsFunc(globs, func(parts []string) bool { return matches(parts, name) }) ||
		slices.ContainsFunc(within, func(p string) bool { return endsIn(file, p) })
}

// matches reports whether a name begins with the first part, ends with the last, and has the
// others between them in their order.
func matches(parts []string, name string) bool {
	last := len(parts) - 1
	name, ok := strings.CutSuffix(name, parts[last])
	if !ok {
		return false
	}
	if name, ok = strings.CutPrefix(name, parts[0]); !ok {
		return false
	}
	for _, part := range parts[1:last] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return true
}

// Directory reports whether all that lies in a directory of this path are credentials.
func Directory(dir string) bool {
	dir = strings.ToLower(dir)
	return slices.ContainsFunc(directories, func(d string) bool { return endsIn(dir, d) })
}

// endsIn reports whether a path ends in the words of another.
func endsIn(file, end string) bool {
	return strings.HasSuffix(file, end) && (len(file) == len(end) || file[len(file)-len(end)-1] == '/')
}
