// Package install fetches what a target names, and says what is left to be run of
// it: packages of npm and PyPI with their dependencies, and checkouts with theirs.
//
// npm, pip and go run as a Job in a Sandbox that holds manifests and locks alone, and
// reaches the user's registries through a proxy that keeps their credentials. What a Job
// prints is hostile: install compares each archive with its hash and unpacks it itself,
// below an os.Root. It must never run on the host what it fetches or who fetches it,
// follow a link out of a tree, leave a credential in a tree or an error, nor write
// anywhere but below its cache. What a package's own scripts do is for a sandbox to see:
// install only writes down which they are.
package install
