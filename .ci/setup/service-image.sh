#!/bin/sh
# Builds the image "coalmine-services" (or $1) from the image "coalmine" and Debian's packages.
. "$(dirname "$0")/lib.sh"

tag=${1:-coalmine-services}
log=$(mktemp "${TMPDIR:-/tmp}/coalmine-build.XXXXXX")
trap 'rm -f "$log"' EXIT
docker build --force-rm --network host -t "$tag" - <"$(dirname "$0")/../image/services.Dockerfile" >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "docker build failed" "make image makes the image that it begins with"
}
say "built $tag"
