package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FindSecrets is a shell's script that prints what of PlantSecrets' secrets can be read below
// its $0, and then what is there beside them. It prints NoSecrets where none can be.
const FindSecrets = `cd "$0"; grep -rl "S3cretOf" . ; cat src/plain.ts src/token.ts; ls -d .git socket 2>/dev/null; echo end`

// NoSecrets is what FindSecrets prints where no secret can be read.
const NoSecrets = "plain\nexport const token = 'xxx_XxXxXxXxXxXxxxxxxXxxxxxxxxxx0000000000'\nend\n"

// PlantSecrets makes a server's directory with secrets at any depth, by name and by content.
func PlantSecrets(t testing.TB, dir string) {
	t.Helper()
	deep := strings.Repeat("d/", 14)
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("S3cretOfTheKey/of+a+private+key+that+is+long\n", 4) + "-----END RSA PRIVATE KEY-----\n"
	for name, text := range map[string]string{
		"src/plain.ts": "plain\n", "src/token.ts": "export const token = 'ghp_SaCrEtOfThEgithubUserxxxxxxx0123456789'\n",
		deep + ".env": "A=S3cretOfEnv\n", deep + "gha-creds-1f.json": "S3cretOfCI", deep + "key.ts": key,
		".venv/pyvenv.cfg": "home = /usr/bin\n", ".venv/lib/terraform.tfstate": "S3cretOfState", "node_modules/x/release.jks": "S3cretOfStore", "node_modules/x/k.txt": key,
		".git/config": "[http]\n\textraheader = S3cretOfGit\n", "a/.aws/credentials": "S3cretOfAWS",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
