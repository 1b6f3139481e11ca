#!/bin/sh
# Fetches the wheels of audit/lang/python/testdata/packages.txt and unpacks them, without
# installing or running anything of them. Content-addressed by the list itself.
. "$(dirname "$0")/lib.sh"

list=$(dirname "$0")/../../audit/lang/python/testdata/packages.txt
key=$(sha256sum <"$list" | cut -c 1-16)
dir=$cache/pypackages/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	python3 -m pip --version >/dev/null 2>&1 || packages python3 python3-pip
	rm -rf "$dir"
	mkdir -p "$dir/wheels" "$dir/trees"
	python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes --disable-pip-version-check --python-version 3.11 \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --platform manylinux_2_28_x86_64 --dest "$dir/wheels" -r "$list"
	for w in "$dir"/wheels/*.whl; do
		python3 -m zipfile -e "$w" "$dir/trees/$(basename "$w" .whl)"
	done
	rm -rf "$dir/wheels"
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/pypackages/current"
say "$(find "$dir/trees" -mindepth 1 -maxdepth 1 | wc -l) packages of PyPI ready in $dir after $(($(seconds) - t0)) s"
