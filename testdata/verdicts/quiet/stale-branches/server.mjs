// stale-branches: finds branches that nobody needs any more, and deletes them when asked to.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Server, string } from './mcp.mjs';

const exec = promisify(execFile);

async function git(...args) {
  try {
    const { stdout } = await exec('git', ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args], { timeout: 25000, maxBuffer: 4 << 20, env: { ...process.env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' } });
    return stdout.trimEnd();
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error('git is not installed.');
    throw new Error((error.stderr || error.message).trim().split('\n')[0]);
  }
}

// .stale-branches.json: { "days": 60, "protect": ["release/*"], "base": "main" }
async function config() {
  const own = await readFile('.stale-branches.json', 'utf8').then(JSON.parse).catch((error) => {
    if (error.code === 'ENOENT') return {};
    throw new Error(`.stale-branches.json: ${error.message}`);
  });
  const globs = ['main', 'master', 'trunk', 'develop', ...(Array.isArray(own.protect) ? own.protect.map(String) : [])];
  const protect = globs.map((g) => new RegExp(`^${g.split('*').map((s) => s.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`));
  return { days: Number(own.days) || 60, base: own.base, isProtected: (name) => protect.some((p) => p.test(name)) };
}

async function branches() {
  const { days, base, isProtected } = await config();
  const lines = (await git('for-each-ref', '--format=%(refname:short)%09%(committerdate:unix)%09%(upstream:track,nobracket)%09%(HEAD)%09%(objectname:short)', 'refs/heads')).split('\n').filter(Boolean);
  const all = lines.map((line) => { const [name, at, track, head, commit] = line.split('\t'); return { name, age: Math.floor((Date.now() / 1000 - at) / 86400), gone: track === 'gone', current: head === '*', commit }; });
  const into = all.find((b) => b.name === base)?.name ?? ['main', 'master', 'trunk', 'develop'].find((n) => all.some((b) => b.name === n));
  const merged = new Set(into ? (await git('for-each-ref', `--merged=refs/heads/${into}`, '--format=%(refname:short)', 'refs/heads')).split('\n') : []);
  return all.map((b) => ({ ...b, into, merged: b.name !== into && merged.has(b.name), old: b.age >= days, kept: b.current || b.name === into || isProtected(b.name) })).sort((a, b) => b.age - a.age);
}

const server = new Server('stale-branches', {
  version: '2.0.1',
  instructions: 'Works on the git repository of the working folder. main, master, trunk, develop, the current branch and what .stale-branches.json protects are never deleted. Hooks do not run.',
});

server.tool('list_stale_branches', 'Lists local branches by age: merged ones, ones whose remote branch is gone, and ones without a commit for long.', { annotations: { readOnlyHint: true, openWorldHint: false } }, async () => {
  const found = (await branches()).filter((b) => !b.kept && (b.merged || b.gone || b.old));
  return found.map((b) => `${b.name}  ${b.age} days${b.merged ? `, merged into ${b.into}` : ''}${b.gone ? ', gone from the remote' : ''}`).join('\n') || 'No branch is stale.';
});

server.tool('refresh_remote', 'Runs "git fetch --prune" so that remote branches that were deleted are known to be gone. Connects to the remote.', {
  optional: { remote: { ...string, default: 'origin' } }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
}, async ({ remote = 'origin' }) => {
  const remotes = (await git('remote')).split('\n').filter(Boolean);
  if (!remotes.includes(remote)) return `Remotes: ${remotes.join(', ') || 'none'}`;
  await git('fetch', '--prune', '--no-tags', '--no-recurse-submodules', '--', remote);
  return `${(await branches()).filter((b) => b.gone).length} branches are gone from ${remote}.`;
});

server.tool('delete_merged_branches', 'Deletes local branches that are merged into the main branch. Without names, only says which could be deleted. Answers the commit of each, so that it can be made again.', {
  optional: { names: { type: 'array', items: string } }, annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
}, async ({ names = [] }) => {
  const safe = (await branches()).filter((b) => b.merged && !b.kept);
  if (!names.length) return safe.map((b) => `${b.name} could be deleted`).join('\n') || 'Nothing could be deleted.';
  const report = [];
  for (const name of new Set(names)) {
    const branch = safe.find((b) => b.name === name);
    if (!branch) { report.push(`${name}: kept, it is not merged, protected or not there`); continue; }
    try { await git('branch', '-D', '--', name); report.push(`${name}: deleted, was ${branch.commit}`); } catch (error) { report.push(`${name}: ${error.message}`); }
  }
  return report.join('\n');
});

server.run();
