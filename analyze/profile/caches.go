package profile

import (
	"path"
	"slices"
	"strings"
)

// PackageCache is a directory from which a package manager installs or runs code.
type PackageCache struct {
	// Dir is below HOME.
	Dir string
	// programs are those whose own it is.
	programs []string
}

// packageCaches are those of well-known package managers, below a Linux user's HOME.
var packageCaches = []PackageCache{
	{".npm/_cacache", []string{"npm"}}, {".npm/_npx", []string{"npm"}}, {".cache/pip", []string{"pip", "pipx"}}, {".cache/uv", []string{"uv", "uvx"}},
	{".cache/pypoetry", []string{"poetry"}}, {".cache/yarn", []string{"yarn"}}, {".yarn/berry", []string{"yarn"}}, {".cache/pnpm", []string{"pnpm", "pnpx"}},
	{".bun/install", []string{"bun", "bunx"}}, {".cache/deno", []string{"deno"}}, {".cache/go-build", []string{"go", "gopls"}}, {"go/pkg/mod", []string{"go", "gopls"}},
	{".cargo/registry", []string{"cargo"}}, {".cargo/git", []string{"cargo"}}, {".m2/repository", []string{"mvn", "java"}}, {".gradle/caches", []string{"gradle", "java"}},
	{".nuget/packages", []string{"dotnet", "nuget"}}, {".cache/composer", []string{"composer", "php"}}, {".cache/pre-commit", []string{"pre-commit"}},
}

// programCaches are, in the same form, what well-known programs keep of the answers that they got, below HOME. Nobody runs what lies there.
var programCaches = []PackageCache{
	{".kube/cache", []string{"kubectl", "helm", "kubectx", "kubens", "oc"}}, {".kube/http-cache", []string{"kubectl", "helm", "oc"}}, {".cache/helm", []string{"helm"}},
	{".aws/cli/cache", []string{"aws"}}, {".cache/gh", []string{"gh"}}, {".config/gcloud/logs", []string{"gcloud"}}, {".cache/fontconfig", []string{"fc-list", "fc-match", "fc-cache", "fc-query"}},
}

// PackageCacheOf returns the package manager's cache in which a path lies, nil for none.
func PackageCacheOf(p, home string) *PackageCache { return cacheOf(packageCaches, p, home) }

// cacheOf returns the cache of a list in which a path lies, nil for none.
func cacheOf(list []PackageCache, p, home string) *PackageCache {
	for i := range list {
		if home != "" && under(p, path.Join(home, list[i].Dir)) {
			return &list[i]
		}
	}
	return nil
}

// isOf reports whether the cache is the own of a process that runs a program. npm is told by
// the files that it loads, so that no server is taken for it by its name.
func (c *PackageCache) isOf(program string, by *process) bool {
	if slices.Contains(c.programs, "npm") {
		return program == "node" && by != nil && by.scripted && by.program == "npm" && !by.foreign
	}
	if by != nil && by.script != "" {
		program = by.script
	}
	return slices.Contains(c.programs, strings.TrimRight(program, ".0123456789"))
}

// scriptOf is the name of the script or of the module that an interpreter was started with, ""
// for any other program.
func scriptOf(program string, argv []string) string {
	switch strings.TrimRight(path.Base(program), ".0123456789") {
	case "python", "node", "ruby", "php", "perl", "sh", "bash", "dash":
	default:
		return ""
	}
	for i, a := range argv[min(1, len(argv)):] {
		if a == "-m" && i+2 < len(argv) {
			return argv[i+2]
		}
		if !strings.HasPrefix(a, "-") {
			return strings.TrimSuffix(path.Base(a), path.Ext(a))
		}
	}
	return ""
}
