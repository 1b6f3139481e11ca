#!/bin/sh
# Installs the real servers that the checks probe, without running anything of
# theirs: npm without scripts, PyPI wheels only. Content-addressed by the list
# itself, so a changed list makes a new directory.
. "$(dirname "$0")/lib.sh"

npm_servers='
@modelcontextprotocol/server-everything@2026.8.31
@modelcontextprotocol/server-filesystem@2026.8.31
@modelcontextprotocol/server-memory@2026.8.31
@modelcontextprotocol/server-sequential-thinking@2026.8.31
chrome-devtools-mcp@1.11.0
'
old_npm_servers='@modelcontextprotocol/server-filesystem@2025.3.28'
other_npm_servers='mcp-server-filesystem@0.6.2'
pypi_servers='mcp-server-time mcp-server-fetch mcp-server-git'

key=$(printf '%s' "$npm_servers$old_npm_servers$other_npm_servers$pypi_servers" | sha256sum | cut -c 1-16)
dir=$cache/servers/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	mkdir -p "$dir/npm" "$dir/npm-old" "$dir/npm-other"
	for d in npm npm-old npm-other; do
		echo '{"name":"servers","version":"1.0.0","private":true}' >"$dir/$d/package.json"
	done
	# shellcheck disable=SC2086  # a list of words
	(cd "$dir/npm" && npm install --ignore-scripts --no-audit --no-fund --silent $npm_servers)
	# shellcheck disable=SC2086
	(cd "$dir/npm-old" && npm install --ignore-scripts --no-audit --no-fund --silent $old_npm_servers)
	# shellcheck disable=SC2086
	(cd "$dir/npm-other" && npm install --ignore-scripts --no-audit --no-fund --silent $other_npm_servers)
	# Debian's own interpreter: the same path exists in the container image.
	python=/usr/bin/python3
	[ -x "$python" ] && "$python" -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
	"$python" -m venv "$dir/py"
	# shellcheck disable=SC2086
	"$dir/py/bin/pip" install --quiet --only-binary :all: --disable-pip-version-check $pypi_servers
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/servers/current"
say "servers ready in $dir after $(($(seconds) - t0)) s"
