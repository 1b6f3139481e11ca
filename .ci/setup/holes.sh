#!/bin/sh
# Installs published versions of servers with known holes, without running anything
# of theirs. They are only ever probed, in the sandbox and the sinkhole.
. "$(dirname "$0")/lib.sh"

servers='
fs-2025.3.28 @modelcontextprotocol/server-filesystem@2025.3.28
fs-0.6.2 @modelcontextprotocol/server-filesystem@0.6.2
fs-0.5.1 @modelcontextprotocol/server-filesystem@0.5.1
clone-fs-0.6.2 mcp-server-filesystem@0.6.2
mobile-0.0.48 @mobilenext/mobile-mcp@0.0.48
postgres-0.6.2 @modelcontextprotocol/server-postgres@0.6.2
slack-2025.4.25 @modelcontextprotocol/server-slack@2025.4.25
'

key=$(printf '%s' "$servers" | sha256sum | cut -c 1-16)
dir=$cache/holes/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	printf '%s' "$servers" | while read -r id package; do
		[ -n "$id" ] || continue
		mkdir -p "$dir/$id"
		echo '{"name":"holes","version":"1.0.0","private":true}' >"$dir/$id/package.json"
		(cd "$dir/$id" && npm install --ignore-scripts --no-audit --no-fund --silent --no-bin-links --omit=optional "$package")
	done
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/holes/current"
say "servers with holes ready in $dir after $(($(seconds) - t0)) s"
