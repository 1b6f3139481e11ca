#!/bin/sh
# Builds the image "coalmine-test/postgres", the database of the tests of sweeps, from Debian's
# image and packages. The engine's layer cache keeps it.
. "$(dirname "$0")/lib.sh"

tag=coalmine-test/postgres
log=$(mktemp "${TMPDIR:-/tmp}/coalmine-build.XXXXXX")
trap 'rm -f "$log"' EXIT
docker build --force-rm --network host -t "$tag" - <"$(dirname "$0")/../image/postgres.Dockerfile" >"$log" 2>&1 || {
	tail -n 20 "$log" >&2
	die "docker build failed" "run $(dirname "$0")/images.sh first"
}
say "built $tag"
