#!/bin/sh
# Builds the image "coalmine" (or $1) from dist/coalmine. The engine's layer
# cache does the rest: with an unchanged Dockerfile only the binary is copied.
. "$(dirname "$0")/lib.sh"

tag=${1:-coalmine}
cd "$(dirname "$0")/../.."
[ -x dist/coalmine ] || die "dist/coalmine is missing" "run make build first"

# A build container knows only the public authorities: behind a proxy with its
# own, pip needs what this machine trusts.
bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
if [ -r "$bundle" ]; then
	# An unchanged bundle must not spoil the layer cache.
	cmp -s "$bundle" dist/ca-bundle.pem || cp -p "$bundle" dist/ca-bundle.pem
fi

# images.sh has pulled the base by the digest that the Dockerfile names, or made it.
t0=$(seconds)
log=$(mktemp "${TMPDIR:-/tmp}/coalmine-build.XXXXXX")
trap 'rm -f "$log"' EXIT
docker build --force-rm --network host --build-arg BASE=debian:bookworm-slim -t "$tag" . >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "docker build failed"
}
say "built $tag ($(docker image inspect --format '{{.Size}}' "$tag" | awk '{printf "%.0f MB", $1/1e6}')) in $(($(seconds) - t0)) s"
