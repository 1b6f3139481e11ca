#!/usr/bin/env node
// patch-stack [REPOSITORY]: keeps half-done changes as patch files in .patches of the repository, where people can read and share them.
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Server } from './mcp.mjs';

const root = resolve(process.argv[2] ?? '.');
const folder = join(root, '.patches');
const NAME = /^[a-z0-9][a-z0-9-]{0,59}$/;
const server = new Server('patch-stack', { version: '0.5.0', instructions: `Works on the Git repository ${root}. Patches are kept in its folder .patches, which is worth a line in .gitignore or .git/info/exclude.` });

// git runs git in the repository without pagers, prompts and file system monitors.
function git(...args) {
  return new Promise((done, fail) => {
    execFile('git', ['-C', root, '--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=false', ...args],
      { timeout: 30000, maxBuffer: 32 << 20, env: { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' } },
      (error, stdout, stderr) => (error ? fail(new Error(error.code === 'ENOENT' ? 'git is not installed' : stderr.trim().slice(0, 1500) || error.message)) : done(stdout)));
  });
}

function file(name) {
  if (!NAME.test(name)) throw new Error('a name is lower-case letters, digits and hyphens, at most 60');
  return join(folder, `${name}.patch`);
}

async function existing(name) {
  const path = file(name);
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new Error(`there is no patch ${path}`);
  return path;
}

const name = { type: 'string', pattern: NAME.source };

server.tool('list_patches', 'Lists the patches in .patches with their sizes and the files that they change.', { annotations: { readOnlyHint: true, openWorldHint: false } }, async () => {
  const names = (await readdir(folder).catch(() => [])).filter((n) => n.endsWith('.patch')).sort();
  const lines = [];
  for (const n of names.slice(0, 200)) {
    const text = await readFile(join(folder, n), 'utf8').catch(() => '');
    const files = [...text.matchAll(/^diff --git a\/(.*?) b\//gm)].map((m) => m[1]);
    lines.push(`${n.slice(0, -6)}  ${Buffer.byteLength(text)} bytes  ${files.slice(0, 8).join(', ')}${files.length > 8 ? ', …' : ''}`);
  }
  return lines.join('\n') || `No patches in ${folder}.`;
});

server.tool('save_patch', 'Saves what is changed but not committed in tracked files as a patch in .patches. The working files stay as they are; an older patch of that name is kept as NAME.patch.old.', {
  required: { name }, optional: { note: { type: 'string', maxLength: 500, description: 'a line at the head of the patch' } },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}, async ({ name: n, note }) => {
  const path = file(n);
  if ((note ?? '').length > 500) throw new Error('a note has at most 500 characters');
  await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}').catch(() => { throw new Error(`${root} is no Git repository with a commit`); });
  const diff = await git('diff', '--no-ext-diff', '--no-textconv', '--no-color', '--binary', 'HEAD', '--');
  if (!diff.trim()) return 'Nothing is changed.';
  await mkdir(folder, { recursive: true });
  await rename(path, `${path}.old`).catch(() => {});
  await writeFile(path, `${note ? `Note: ${note.replace(/\s+/g, ' ')}\n\n` : ''}${diff}`, { flag: 'wx' });
  return `Saved ${path}: ${diff.split('\n').filter((l) => /^[+-](?![+-]{2} )/.test(l)).length} lines.`;
});

server.tool('check_patch', 'Says whether a patch in .patches still applies, and what it would change. Changes nothing.', { required: { name }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ name: n }) => {
  const path = await existing(n);
  const summary = await git('apply', '--stat', '--', path);
  await git('apply', '--check', '--', path);
  return `Applies.\n${summary}`;
});

server.tool('apply_patch', 'Applies a patch in .patches to the working files, wholly or not at all. Commits nothing.', {
  required: { name }, optional: { reverse: { type: 'boolean', description: 'takes the patch out again' } },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
}, async ({ name: n, reverse }) => {
  const path = await existing(n);
  await git('apply', ...(reverse ? ['--reverse'] : []), '--', path);
  return `${reverse ? 'Took out' : 'Applied'} ${n}.`;
});

server.run();
