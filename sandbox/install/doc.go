// Package install fetches what a target names, and says what is left to be run of
// it: packages of npm and PyPI with their dependencies, and checkouts with theirs.
//
// A fetch happens on the host with the user's own npm and pip, so that their
// registries, proxies and credentials hold. It must never execute anything of what
// it fetches, follow a link out of a tree, leave a credential in a tree or an
// error, nor write anywhere but below its cache. What a package's own scripts do is
// for a sandbox to see: install only writes down which they are.
package install
