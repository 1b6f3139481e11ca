"""Audits the sources of honest servers: python3 audit-honest.py COALMINE CACHE HONEST.json SERVERS.

CACHE has what setup/honest.sh installed, SERVERS what setup/servers.sh did. A tree is quiet where the audit
finds nothing critical and nothing high. SHARD=i/n takes every n-th tree. The lines are a Markdown
table; what is loud follows its row, and the last line is "audit-honest: quiet/all".
"""
import glob
import json
import os
import subprocess
import sys

SEVERITIES = ("critical", "high", "medium", "low", "info")


def trees(cache, listed, servers):
    """The names and the directories of all servers whose sources are there."""
    with open(listed) as f:
        specs = sorted({s["npm"] for s in json.load(f)["servers"] if "npm" in s})
    for spec in specs:
        yield spec, os.path.join(cache, "npm", spec, "node_modules", spec[: spec.rindex("@")])
    for at in sorted(glob.glob(os.path.join(servers, "npm", "node_modules", "@modelcontextprotocol", "server-*"))):
        yield os.path.relpath(at, servers).replace("/node_modules", ""), at
    for at in sorted(glob.glob(os.path.join(servers, "py", "lib", "python3*", "site-packages", "mcp_server_*"))):
        if not at.endswith(".dist-info"):
            yield os.path.basename(at), at
    for at in sorted(glob.glob(os.path.join(cache, "pysdk", "*", "examples", "*"))):
        if os.path.isdir(at):
            yield os.path.relpath(at, os.path.join(cache, "pysdk")), at
    modules = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True, check=True).stdout.strip()
    for module in ("github.com/modelcontextprotocol/go-sdk@*/examples/server/*", "github.com/mark3labs/mcp-go@*/examples/*"):
        for at in sorted(glob.glob(os.path.join(modules, module))):
            if os.path.isdir(at):
                yield os.path.relpath(at, os.path.join(modules, "github.com")), at


def audited(coalmine, at):
    done = subprocess.run([coalmine, "audit", "--own", "no", "--format", "json", at], capture_output=True, text=True, timeout=300)
    if "{" not in done.stdout:
        return None, (done.stderr.strip().splitlines() or ["it said nothing"])[0]
    return json.loads(done.stdout[done.stdout.index("{"):])["audit"], ""


def main(coalmine, cache, listed, servers):
    shard, shards = map(int, (os.environ.get("SHARD") or "1/1").split("/"))
    quiet = total = 0
    print("| package | files | score | " + " | ".join(SEVERITIES) + " |")
    print("|---|---|---|" + "---|" * len(SEVERITIES))
    for name, at in list(trees(cache, listed, servers))[shard - 1::shards]:
        total += 1
        report, why = audited(coalmine, at)
        if report is None:
            print(f"{name}: {why}")
            continue
        by = {s: [f for f in report["findings"] if f["severity"] == s] for s in SEVERITIES}
        print(f"| {name} | {report['profile']['files_scanned'] + report.get('left_out', 0)} | {report['score']} {report['grade']} | " + " | ".join(str(len(by[s])) for s in SEVERITIES) + " |", flush=True)
        loud = by["critical"] + by["high"]
        for f in loud:
            print(f"    {f['severity']} {f['rule']} {f['location']['path']}:{f['location']['line']} {f['message']}")
        quiet += not loud
    print(f"audit-honest: {quiet}/{total}")
    sys.exit(quiet != total or not total)


main(*sys.argv[1:])
