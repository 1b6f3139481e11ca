#!/bin/sh
# Fetches published versions of servers with known weaknesses, and of those that mend them, by
# their digests. They are unpacked and read; nothing of them is ever run.
. "$(dirname "$0")/lib.sh"

npm='
5d0eb9e8ce73ce391dc13665c7517cb07accf37ff747d35d45f0bbcec9f67323 @modelcontextprotocol/server-filesystem@0.5.1
fa48345065282c11b04ae909a7c196d7b10aeaeb1c54d17d2a02b33b1a2e14f2 @modelcontextprotocol/server-filesystem@0.6.2
bfeb45f6ec2db5ce731a1cf18168da08e40c0a573db911941a7b82e695a2e1a8 @modelcontextprotocol/server-filesystem@2025.3.28
c4eead124fd371696c9355a3ba860e18412dfe45e5e24f2d9f28622df76673ec mcp-server-filesystem@0.6.2
fd35ff85cef809d48625b04edfb9a72c83efbd399ccbd44b1ad8f290719531ec figma-developer-mcp@0.6.0
8803bc488254e261d808f90b15dd42f93f7a2d9bfd5afa595bf0f473891d1665 figma-developer-mcp@0.6.4
1cf794dd0f05667ad1a55e5bbb18d76462644b6aef883c0455c27346cdaea4d1 mcp-server-kubernetes@2.9.6
d550e0bc2bb0b459714a963d3232db1ab7b683424b9f079d83bd2fd0ff979797 mcp-server-kubernetes@4.1.2
'
pypi='
336ea42dd2eccb24631630b5435594cdeab74bc1010530888db7d7e46add1219 mcp-server-git==2025.9.25
1392a40b3f68e3949a52f3ebcbf2a2beab9936b1943eef859e5f5319806b3c2a mcp-server-git==2025.12.18
'

key=$(printf '%s' "$npm$pypi" | sha256sum | cut -c 1-16)
dir=$cache/published/$key
t0=$(seconds)

# known checks an archive against its digest before anything reads it.
known() {
	echo "$1  $2" | sha256sum -c --quiet - || die "$2 is not the archive that is known" "look at what changed before you take its digest"
}

if [ ! -e "$dir/complete" ]; then
	have npm || die "npm is missing" "run .ci/setup/servers.sh"
	rm -rf "$dir"
	mkdir -p "$dir/archives"
	printf '%s' "$npm" | while read -r sum package; do
		[ -n "$sum" ] || continue
		file=$(npm pack --silent --ignore-scripts --pack-destination "$dir/archives" "$package" </dev/null)
		known "$sum" "$dir/archives/$file"
		mkdir -p "$dir/${file%.tgz}"
		tar -xzf "$dir/archives/$file" -C "$dir/${file%.tgz}" --no-same-owner
	done
	printf '%s' "$pypi" | while read -r sum package; do
		[ -n "$sum" ] || continue
		python3 -m pip download --quiet --no-deps --only-binary :all: --disable-pip-version-check -d "$dir/archives" "$package" </dev/null
		name=$(printf '%s' "$package" | sed 's/==/-/; s/-\([^-]*\)$/@\1/; s/-/_/g; s/@/-/')
		for file in "$dir/archives/$name"-*.whl; do
			known "$sum" "$file"
			mkdir -p "$dir/$name"
			(cd "$dir/$name" && python3 -m zipfile -e "$file" .)
		done
	done
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/published/current"
say "published servers ready in $dir after $(($(seconds) - t0)) s"
