#!/usr/bin/env node
// git-worktrees: a working tree for each branch, so that nothing has to be stashed.
//
//   server.mjs [REPOSITORY]
//
// Trees are made in ~/.local/share/git-worktrees/trees/NAME-OF-REPOSITORY/BRANCH. Without REPOSITORY there is a practice
// repository in ~/.local/share/git-worktrees/practice, made at the first start. Hooks and your own Git configuration are
// not used, and nothing is fetched or pushed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, sep } from 'node:path';
import { Server } from './mcp.mjs';

const data = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'git-worktrees');
const practice = join(data, 'practice');
const environment = {
  PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: homedir(), LC_ALL: 'C.UTF-8', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0',
  GIT_AUTHOR_NAME: 'git-worktrees', GIT_AUTHOR_EMAIL: 'git-worktrees@localhost', GIT_COMMITTER_NAME: 'git-worktrees', GIT_COMMITTER_EMAIL: 'git-worktrees@localhost',
};

function git(folder, ...words) {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['-C', folder, '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'gc.auto=0', ...words], { env: environment, stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 });
    let out = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { if (out.length < 2_000_000) out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { errors = (errors + text).slice(-2000); });
    child.on('error', (error) => reject(error.code === 'ENOENT' ? new Error('git is not installed') : error));
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(errors.trim().split('\n').at(-1) || `git ended with ${code}`))));
  });
}

async function makePractice() {
  if (existsSync(join(practice, '.git'))) return;
  mkdirSync(practice, { recursive: true });
  await git(practice, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(practice, 'README.md'), '# Practice\n\nA repository for trying out working trees.\n');
  await git(practice, 'add', 'README.md');
  await git(practice, 'commit', '--quiet', '--message', 'Begin');
  await git(practice, 'branch', 'draft');
}

// The repository and the folder of its trees, prepared once.
let prepared;
const ready = () => (prepared ??= (async () => {
  if (!process.argv[2]) await makePractice();
  const repository = realpathSync((await git(process.argv[2] ?? practice, 'rev-parse', '--show-toplevel')).trim());
  const trees = join(data, 'trees', `${basename(repository).replace(/[^\w.-]/g, '_')}-${createHash('sha256').update(repository).digest('hex').slice(0, 8)}`);
  mkdirSync(trees, { recursive: true });
  return { repository, trees: realpathSync(trees) };
})().catch((error) => { prepared = undefined; throw error; }));

function branchName(text) {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(text) || /\.\.|\/\/|\/\.|@\{|\.lock(\/|$)|[./]$/.test(text)) throw new Error(`${JSON.stringify(text.slice(0, 120))} is no good name of a branch`);
  return text;
}

const exists = (repository, branch) => git(repository, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`).then(() => true, () => false);
const folderOf = (branch) => branch.replaceAll('/', '--');

async function list() {
  const { repository, trees } = await ready();
  const text = await git(repository, 'worktree', 'list', '--porcelain', '-z');
  return text.split('\0\0').filter((part) => part.trim()).map((part) => {
    const fields = Object.fromEntries(part.split('\0').filter(Boolean).map((line) => { const [key, ...rest] = line.split(' '); return [key, rest.join(' ')]; }));
    return { path: fields.worktree, branch: fields.branch?.replace('refs/heads/', '') ?? '(none)', commit: fields.HEAD?.slice(0, 10), locked: 'locked' in fields, ours: fields.worktree.startsWith(trees + sep) };
  });
}

async function tree(branch) {
  const found = (await list()).find((each) => each.ours && each.branch === branchName(branch));
  if (!found) throw new Error(`this server has made no working tree for ${branch}`);
  return found;
}

const changes = async (path) => (await git(path, 'status', '--porcelain', '-z', '--untracked-files=all')).split('\0').filter(Boolean);

const server = new Server('git-worktrees', { version: '1.3.0', instructions: `Runs git on ${process.argv[2] ? 'the repository that it was started with' : 'a practice repository in ~/.local/share/git-worktrees/practice, made at the first start'}. Working trees are made below ~/.local/share/git-worktrees/trees. Nothing is fetched or pushed.` });
const read = { annotations: { readOnlyHint: true, openWorldHint: false } };
const change = (more) => ({ annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false, ...more } });
const branch = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$', examples: ['draft', 'feature/search'] };

server.tool('list_branches', 'Lists the local branches of the repository with their last commit, by running git for-each-ref.', read, async () => {
  const { repository } = await ready();
  const text = await git(repository, 'for-each-ref', '--format=%(refname:short)%09%(objectname:short)%09%(committerdate:short)%09%(contents:subject)', 'refs/heads');
  return text.trim().split('\n').filter(Boolean).map((line) => { const [name, commit, day, subject] = line.split('\t'); return { name, commit, day, subject }; });
});

server.tool('list_worktrees', 'Lists the working trees of the repository, and which of them this server made, by running git worktree list.', read, list);

server.tool('add_worktree', 'Makes a working tree for a branch below ~/.local/share/git-worktrees/trees by running git worktree add. A branch that does not exist is made, from another one or the current commit.',
  { required: { branch }, optional: { from: { ...branch, description: 'Branch to begin from, if the branch is new', examples: ['main'] } }, ...change() }, async ({ branch, from }) => {
    const { repository, trees } = await ready();
    const path = join(trees, folderOf(branchName(branch)));
    if (existsSync(path)) throw new Error(`there is a working tree for ${branch} already`);
    if (from !== undefined && !(await exists(repository, branchName(from)))) throw new Error(`there is no branch ${from}`);
    const isNew = !(await exists(repository, branch));
    await git(repository, 'worktree', 'add', '--quiet', ...(isNew ? ['-b', branch, '--', path, from ? `refs/heads/${from}` : 'HEAD'] : ['--', path, branch]));
    return { path, branch, 'new branch': isNew };
  });

server.tool('worktree_status', 'Lists what is changed in a working tree that this server made, and how far its branch is from another, by running git status and git rev-list.',
  { required: { branch }, optional: { compare: { ...branch, examples: ['main'] } }, ...read }, async ({ branch, compare }) => {
    const { repository } = await ready();
    const { path } = await tree(branch);
    const status = { path, changes: await changes(path) };
    if (compare === undefined) return status;
    if (!(await exists(repository, branchName(compare)))) throw new Error(`there is no branch ${compare}`);
    const [behind, ahead] = (await git(repository, 'rev-list', '--left-right', '--count', `refs/heads/${compare}...refs/heads/${branch}`)).trim().split('\t').map(Number);
    return { ...status, ahead, behind };
  });

server.tool('remove_worktree', 'Removes a working tree that this server made, by running git worktree remove; the branch stays. Changes that are not committed are lost, so a tree with changes is only removed with discard.',
  { required: { branch }, optional: { discard: { type: 'boolean', default: false } }, ...change({ destructiveHint: true }) }, async ({ branch, discard = false }) => {
    const { repository } = await ready();
    const { path } = await tree(branch);
    const changed = await changes(path);
    if (changed.length && !discard) throw new Error(`${changed.length} files are changed; commit them or set discard`);
    await git(repository, 'worktree', 'remove', ...(discard ? ['--force'] : []), '--', path);
    return `Removed ${path}; the branch ${branch} stays.`;
  });

await ready().catch((error) => process.stderr.write(`git-worktrees: ${error.message}\n`));
server.run();
