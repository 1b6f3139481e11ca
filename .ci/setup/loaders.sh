#!/bin/sh
# Installs the YAML loaders that two of the oracles' fixtures read with: nothing of
# theirs is run here. Each language's lies in a directory of its own, as it has to
# lie beside a server.
. "$(dirname "$0")/lib.sh"

# The last line of versions whose ordinary load() makes functions.
npm_loader=js-yaml@3.14.2
pypi_loader=PyYAML==6.0.3

key=$(printf '%s' "$npm_loader $pypi_loader" | sha256sum | cut -c 1-16)
dir=$cache/loaders/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	mkdir -p "$dir/node" "$dir/python"
	echo '{"name":"loaders","version":"1.0.0","private":true}' >"$dir/node/package.json"
	(cd "$dir/node" && npm install --ignore-scripts --no-audit --no-fund --silent --no-bin-links "$npm_loader")
	python=/usr/bin/python3
	[ -x "$python" ] && "$python" -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
	"$python" -m venv "$dir/py"
	"$dir/py/bin/pip" install --quiet --only-binary :all: --disable-pip-version-check --target "$dir/python" "$pypi_loader"
	rm -rf "$dir/py"
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/loaders/current"
say "loaders ready in $dir after $(($(seconds) - t0)) s"
