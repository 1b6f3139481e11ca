#!/bin/sh
# Installs Microsoft's SARIF multitool, by which the checks validate report.sarif
# as GitHub's code scanning would. It needs npm to fetch it and nothing to run.
. "$(dirname "$0")/lib.sh"

version=5.7.0
integrity=sha512-NxUbpq6ISCWoTQ/NfOYEwEDKq1Heka/rMoJ5R5LMydcAZQX/X7g5mWHcgxDub+0M07LC96tZ5LZHvF1Qy3gjTA==
dir=$cache/multitool
t0=$(seconds)

case $(uname -m) in
x86_64) ;;
*) die "the multitool is not made for $(uname -m)" ;;
esac
if [ "$(cat "$dir/complete" 2>/dev/null)" != "$version" ]; then
	have npm || die "npm is missing" "run .ci/setup/tools.sh first"
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/multitool.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	echo '{"name":"multitool","version":"1.0.0","private":true}' >"$new/package.json"
	(cd "$new" && npm install --ignore-scripts --no-audit --no-fund --silent --save-exact "@microsoft/sarif-multitool-linux@$version")
	# npm has checked the archive against the lock; the lock must name the one that we know.
	grep -qF "$integrity" "$new/package-lock.json" || die "the multitool's archive is not the one known as $version"
	package=node_modules/@microsoft/sarif-multitool-linux
	chmod +x "$new/$package/Sarif.Multitool"
	{
		echo '#!/bin/sh'
		echo '# No ICU has to be installed.'
		echo 'export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1'
		# shellcheck disable=SC2016  # expanded when the wrapper runs
		echo 'exec "$(dirname "$0")/'"$package"'/Sarif.Multitool" "$@"'
	} >"$new/multitool"
	chmod +x "$new/multitool"
	echo "$version" >"$new/complete"
	rm -rf "$dir"
	mv "$new" "$dir"
	chmod 755 "$dir"
fi
say "SARIF multitool $version ready in $dir after $(($(seconds) - t0)) s"
