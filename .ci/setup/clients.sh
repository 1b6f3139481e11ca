#!/bin/sh
# Installs what the wire report drives through the tap: the MCP Inspector and the
# official conformance suite. Nothing of theirs is run here.
. "$(dirname "$0")/lib.sh"

# The suite's last release for Node 20: later ones want 22.
packages='@modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.13'

key=$(printf '%s' "$packages" | sha256sum | cut -c 1-16)
dir=$cache/clients/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	mkdir -p "$dir"
	echo '{"name":"clients","version":"1.0.0","private":true}' >"$dir/package.json"
	# shellcheck disable=SC2086  # a list of words
	(cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --silent --omit=optional $packages)
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/clients/current"
say "clients ready in $dir after $(($(seconds) - t0)) s"
