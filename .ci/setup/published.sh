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
1e647cd897e1473aa730bbf51d1762b21ea45de8c7cc378e652da1f2c40b2ba6 agentic-flow@2.0.13
6bddfc6f0dbee11b2326c56fc6c6048830f88bdbfe6eac45a2437bfaee960413 agentic-flow@2.0.14
7b5e58ad99ff3dd9df9a262ff348b2159fa9fac0a8c4e577b5dd4c1c9eeb0469 ruvector@0.2.35
15e20baf8e07179e41ac74d565f2d0c849e3e6c90fc24f295f591dce0349f230 ruvector@0.2.40
ba64685df5cf78258bb5007b3ad883063b067bd7190e4c00ce926a68ff0a7dda @cyanheads/git-mcp-server@2.15.1
f92e8eb1a0ddd824a82f0b707140393ec11905fcf51386b12993018d4e7bad20 @cyanheads/git-mcp-server@2.15.3
ec8540e28b0e3d8bc8c65ba503a18dbe28f45ccdefd3010335aa204461d7c8e7 @apify/actors-mcp-server@0.9.11
dc1d818b92074674d02f38303ac4786f68794969446f8e0fb3063baa4c18b353 @apify/actors-mcp-server@0.9.22
1b69b2ab3fe32d76a2bf7196cd2c0c590f6203841a2205ac65cfda53ec8bfb7e @supabase/mcp-server-supabase@0.5.7
c7d5ccc8fd56a2104f5096254caf3d92f46b05f793436a9045926c491cc6395c @supabase/mcp-server-supabase@0.5.8
aac2eac506f71439a8062d66dd046ef3baac9d51defd225b5e9dd3dadfe8f523 mcp-sqlite@1.0.8
31f7f3dddd40b9e257b97903b5acea47d419d5fa9442dc6ef92a3d865d948ab3 mcp-sqlite@1.0.9
1b4f20d7a92090e45152c9781564e878d94080e82f3817ed6005c39c4ae7b8a8 @mobilenext/mobile-mcp@0.0.48
66c8725302ac6db67410540389907748afdfb579fbe5cb74181523bc8b4ccdee @mobilenext/mobile-mcp@0.0.58
de639738f31a456858f300c3c593df5cded308616ff27b9221177e925add5871 @zereight/mcp-gitlab@2.0.36
b76076140fcefab0c326996c0fad0d9960c93225ba985579f72e71e689b3db66 @zereight/mcp-gitlab@2.1.64
'
pypi='
336ea42dd2eccb24631630b5435594cdeab74bc1010530888db7d7e46add1219 mcp-server-git==2025.9.25
1392a40b3f68e3949a52f3ebcbf2a2beab9936b1943eef859e5f5319806b3c2a mcp-server-git==2025.12.18
f736deb1b1cceaa23e27931c92b1efc5ff7f6257302cf17f4df5c3e2090604a1 mcp-kubernetes-server==0.1.11
7bb8f40a832ab4a923dded2c79e2d15a18b7a1c7296c9133c90c3df944db3a48 mcp-kubernetes-server==0.1.12
eb00e44e523073b2cbf73dfa0906be12f76da71448f6c082d71131d227cabe56 kubectl-mcp-tool==1.2.0
c947969a49bf33ad07e938ded3f7bee2f13fcca4ebce078151a6c398f842ca9f kubectl-mcp-tool==1.3.0
5ea012a6d970c3c41ed82ef1e13febc39b7309a8ca6becb2f738c484773efbc6 dbt-mcp==1.17.0
c533192d871277ded111e8d04947122e8a1b9183306250471a0552469c41e740 dbt-mcp==1.17.1
c4bc9e13d4ecb723cfea257e7e8fd17341b4ead3d340e0d52192bce7a153a86e qwed-mcp==0.1.0
56d86ca41ae1b78aa745a39f7a38db45505317e160bd5edbecc37bffda616e2a qwed-mcp==0.2.1
065124f913ef1934985d67d7f5988b9fdaca9e24cd53cd6b6fa1b28d4625745a meta-ads-mcp==1.0.113
60326ecebe3522bddc12d3e7e284c8aefd90201dd83ffbe79c653a8fcecf58b1 meta-ads-mcp==1.0.115
1ac2b7609bf298275b09409534335c5cd92799db1574f4584cbaec47beb3619f mcp-atlassian==0.13.1
8ef9f5a68a58ac264aa6c98c891e7df14a02edde724f06ac5ea869b0be60b666 mcp-atlassian==0.21.1
1c19db7e2eb3ba67d17a4a2fcfbe42abd97f13dd1c7d6d001d803980e0594d89 mcp-atlassian==0.22.0
c181e3621a853dc7104a9564c6abf73eed9cead444aeaf20ed53a5fd7fb90437 semgrep-mcp==0.1.7
f0973760269efd972f771911fe327be39f0a4c0749b4407a0d4ae7f695875ea4 semgrep-mcp==0.1.8
46d64951fbaed19b9169342987532e64d4cb7f4008b652511298bf7aab87efe9 netlicensing-mcp==0.1.7
081b1589a116f2f0983d781ba0665b775e70a3f080df990a4e3ac5b25447dfe6 netlicensing-mcp==0.1.8
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
		python3 -m pip download --quiet --no-deps --ignore-requires-python --only-binary :all: --disable-pip-version-check -d "$dir/archives" "$package" </dev/null
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
