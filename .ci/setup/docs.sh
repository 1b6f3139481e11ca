#!/bin/sh
# Installs mkdocs-material, which builds the documentation, below $1.
. "$(dirname "$0")/lib.sh"

version=9.8.1
dir=${1:?where to}
t0=$(seconds)

if [ ! -x "$dir/bin/mkdocs" ]; then
	python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
	mkdir -p "$(dirname "$dir")"
	rm -rf "$dir"
	python3 -m venv "$dir"
	"$dir/bin/pip" install --quiet --only-binary :all: --disable-pip-version-check "mkdocs-material==$version" || {
		rm -rf "$dir"
		die "pip could not install mkdocs-material $version" "check the network and pip's configuration"
	}
fi
say "mkdocs-material $version ready in $dir after $(($(seconds) - t0)) s"
