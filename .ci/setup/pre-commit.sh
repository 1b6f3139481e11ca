#!/bin/sh
# Installs pre-commit, from pinned wheels, below the cache: tests run the hooks with it.
. "$(dirname "$0")/lib.sh"

list=$(dirname "$0")/../pre-commit/requirements.txt
python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
dir=$cache/pre-commit/$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$(sha256sum <"$list" | cut -c 1-16)
t0=$(seconds)
if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	mkdir -p "$(dirname "$dir")"
	python3 -m venv "$dir"
	"$dir/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes --disable-pip-version-check -r "$list" || {
		rm -rf "$dir"
		die "pip could not install pre-commit" "check the network and pip's configuration"
	}
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/pre-commit/current"
say "pre-commit ready in $dir after $(($(seconds) - t0)) s"
