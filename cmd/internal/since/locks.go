package since

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// locks are the files that decide which dependencies a program finds, and which program a
// runner such as npx or uv starts. They act on all directories below their own.
var locks = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock", "bun.lockb", ".npmrc", ".yarnrc.yml", ".nvmrc", ".node-version",
	"pyproject.toml", "uv.lock", "uv.toml", "poetry.lock", "pdm.lock", "Pipfile", "Pipfile.lock", "requirements.txt", "setup.cfg", ".python-version",
	"deno.json", "deno.lock", "go.mod", "go.sum", "go.work", "go.work.sum", "Cargo.toml", "Cargo.lock", "Gemfile.lock", ".tool-versions", "mise.toml",
}

// LocksChanged reports whether a file that decides dependencies differs from the merge base
// in the directory of a path, or in one above it within the repository.
func (b *Base) LocksChanged(ctx context.Context, name string) (bool, error) {
	rel, err := b.relative(name)
	if err != nil {
		return true, err
	}
	var names []string
	for dir := filepath.ToSlash(rel); ; {
		for _, lock := range locks {
			names = append(names, path.Join(dir, lock))
		}
		if dir == "." {
			break
		}
		dir = path.Dir(dir)
	}
	tree, err := b.git.tree(ctx, b.Commit, names...)
	if err != nil {
		return true, err
	}
	for _, lock := range names {
		same, err := b.sameFile(ctx, lock, tree)
		if err != nil {
			return true, fmt.Errorf("compare %s with %s: %w", lock, b.Commit, err)
		}
		if !same {
			return true, nil
		}
	}
	return false, nil
}

// sameFile compares one file with its entry in a list of the commit, if either is there.
func (b *Base) sameFile(ctx context.Context, rel string, tree map[string]entry) (bool, error) {
	was, ok := tree[rel]
	if !ok {
		_, err := os.Lstat(filepath.Join(b.top, filepath.FromSlash(rel)))
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR), nil
	}
	return sameTree(ctx, b.top, rel, map[string]entry{rel: was})
}
