// Writes changelogs from conventional commits. `rehearse` plays messages through a throw-away repository, as the release job would.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Server, string } from './mcp.mjs';

const run = promisify(execFile);
const headings = new Map([['feat', 'Features'], ['fix', 'Fixes'], ['perf', 'Performance'], ['docs', 'Documentation']]);

function changelog(subjects, version) {
  const groups = new Map();
  for (const subject of subjects) {
    const m = /^(\w+)(?:\(([^)]*)\))?(!)?: (.+)$/.exec(subject);
    const group = m?.[3] ? 'Breaking changes' : headings.get(m?.[1]) ?? 'Other';
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(m ? `- ${m[2] ? `**${m[2]}**: ` : ''}${m[4]}` : `- ${subject}`);
  }
  return [`## ${version}`, ...[...groups].flatMap(([group, lines]) => ['', `### ${group}`, ...lines])].join('\n');
}

function nextVersion(last, subjects) {
  const [major, minor, patch] = last.split('.').map(Number);
  if (subjects.some((s) => /^\w+(\([^)]*\))?!: /.test(s))) return `${major + 1}.0.0`;
  return subjects.some((s) => s.startsWith('feat')) ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

const clean = (messages) => messages.map((m) => String(m).split(/[\n\0]/)[0].trim()).filter(Boolean).slice(0, 50);
const messages = { type: 'array', items: string, description: 'first lines of commits, e.g. "feat(api): add search"' };
const version = { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' };
const isVersion = (text) => /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text);
const server = new Server('changelog-preview', { version: '2.2.0' });

server.tool('write_changelog', 'Groups commit messages into a changelog section in Markdown.', {
  required: { messages }, optional: { last_version: version }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ messages: list, last_version: last = '0.0.0' }) => {
  const subjects = clean(list);
  return subjects.length && isVersion(last) ? changelog(subjects, nextVersion(last, subjects)) : 'Nothing to write.';
});

server.tool('rehearse', 'Makes a git repository in a temporary folder, commits the messages to it, writes the changelog from its log, and removes the folder again.', {
  required: { messages }, annotations: { destructiveHint: false, openWorldHint: false },
}, async ({ messages: list }) => {
  const subjects = clean(list);
  if (!subjects.length) return 'Give at least one message.';
  const folder = await mkdtemp(join(tmpdir(), 'changelog-'));
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'rehearsal', GIT_AUTHOR_EMAIL: 'rehearsal@localhost', GIT_COMMITTER_NAME: 'rehearsal', GIT_COMMITTER_EMAIL: 'rehearsal@localhost' };
  const git = async (...args) => (await run('git', args, { cwd: folder, env, timeout: 15000 })).stdout;
  try {
    await git('init', '--quiet', '--initial-branch=main');
    await writeFile(join(folder, 'package.json'), '{"version": "1.0.0"}\n');
    await git('add', 'package.json');
    await git('commit', '--quiet', '-m', 'chore: release 1.0.0');
    await git('tag', 'v1.0.0');
    for (const subject of subjects) await git('commit', '--quiet', '--allow-empty', `--message=${subject}`);
    const log = (await git('log', '--reverse', '--format=%s', 'v1.0.0..HEAD')).trim().split('\n');
    return changelog(log, nextVersion('1.0.0', log));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

server.run();
