// Package bundle packs session logs and run directories into one archive that others can
// verify: every file with its hash in a manifest, and the manifest signed with Ed25519 on
// request. With redaction, secrets are taken out of every line before it is packed.
//
// It must never follow a link, write outside of the archive, or unpack one: verifying reads
// a stream and keeps nothing of it but hashes.
package bundle
