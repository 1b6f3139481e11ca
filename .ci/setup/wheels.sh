#!/bin/sh
# Fetches the wheels by which tests build Python projects, without running anything
# of them. Content-addressed by the list itself.
. "$(dirname "$0")/lib.sh"

wheels='
setuptools==84.2.1 --hash=sha256:ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2
'
key=$(printf '%s' "$wheels" | sha256sum | cut -c 1-16)
dir=$cache/wheels/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	python3 -m pip --version >/dev/null 2>&1 || packages python3 python3-pip
	rm -rf "$dir"
	mkdir -p "$dir"
	printf '%s' "$wheels" >"$dir/wanted.txt"
	python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes --disable-pip-version-check --dest "$dir" -r "$dir/wanted.txt"
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/wheels/current"
say "wheels ready in $dir after $(($(seconds) - t0)) s"
