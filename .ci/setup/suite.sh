#!/bin/sh
# Fetches the official JSON Schema Test Suite, which the source distribution of
# Python's jsonschema carries, without running anything of it. Content-addressed
# by that archive.
. "$(dirname "$0")/lib.sh"

version=4.26.0
sum=0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326
dir=$cache/suite/$version
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	python3 -m pip --version >/dev/null 2>&1 || packages python3 python3-pip
	rm -rf "$dir"
	mkdir -p "$dir"
	echo "jsonschema==$version --hash=sha256:$sum" >"$dir/wanted.txt"
	python3 -m pip download --quiet --no-deps --no-binary :all: --require-hashes --disable-pip-version-check --dest "$dir" -r "$dir/wanted.txt"
	tar -xzf "$dir/jsonschema-$version.tar.gz" -C "$dir" --strip-components=2 "jsonschema-$version/json/tests" "jsonschema-$version/json/remotes"
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/suite/current"
say "JSON Schema Test Suite of jsonschema $version ready in $dir after $(($(seconds) - t0)) s"
