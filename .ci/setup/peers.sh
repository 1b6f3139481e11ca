#!/bin/sh
# Installs other tools that look at MCP servers, each in an environment of its own, from the
# pinned wheels of .ci/peers. They run in a sandbox without a network only (.ci/peers-report).
. "$(dirname "$0")/lib.sh"

lists=$(dirname "$0")/../peers
t0=$(seconds)
python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
for list in "$lists"/*.txt; do
	name=$(basename "$list" .txt)
	dir=$cache/peers/$name-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$(sha256sum <"$list" | cut -c 1-16)
	if [ ! -e "$dir/complete" ]; then
		rm -rf "$dir"
		python3 -m venv "$dir"
		if ! "$dir/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes --no-compile --disable-pip-version-check -r "$list"; then
			say "$name could not be installed; the report says so"
			continue
		fi
		touch "$dir/complete"
	fi
	ln -sfn "$dir" "$cache/peers/$name"
done
say "$(find "$cache/peers" -maxdepth 1 -type l | wc -l) tools ready in $cache/peers after $(($(seconds) - t0)) s"
