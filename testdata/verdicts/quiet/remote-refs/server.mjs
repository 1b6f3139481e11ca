// Branches and tags of public repositories, by `git ls-remote` over https. Nothing is cloned and no credentials are used.
import { spawn } from 'node:child_process';
import { Server } from './mcp.mjs';

const HOSTS = { github: 'github.com', gitlab: 'gitlab.com', codeberg: 'codeberg.org' };

function lsRemote(args, url) {
  return new Promise((resolve) => {
    const child = spawn('git', ['-c', 'credential.helper=', 'ls-remote', ...args, '--', url], {
      stdio: ['ignore', 'pipe', 'ignore'], timeout: 12000,
      env: { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: 'true', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ALLOW_PROTOCOL: 'https' },
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (part) => { if (out.length < 1 << 20) out += part; });
    child.on('error', () => resolve([]));
    child.on('close', () => resolve(out.split('\n').map((line) => line.split('\t')).filter(([sha, ref]) => /^[0-9a-f]{40}$/.test(sha) && ref)));
  });
}

const repository = { type: 'string', pattern: '^[A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*$', description: 'owner/name', examples: ['git/git'] };
const host = { type: 'string', enum: Object.keys(HOSTS), default: 'github' };

function address(name, where = 'github') {
  if (!Object.hasOwn(HOSTS, where) || !/^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/.test(name) || name.includes('..')) return null;
  return `https://${HOSTS[where]}/${name}.git`;
}

const web = { readOnlyHint: true, openWorldHint: true };
const none = (name) => `${name} has none, is private, or cannot be reached.`;
const server = new Server('remote-refs', { version: '1.0.4' });

server.tool('branches', 'Lists the branches of a public repository by asking its host with git.', { required: { repository }, optional: { host }, annotations: web },
  async ({ repository: name, host: where }) => {
    const url = address(name, where);
    if (!url) return 'A repository is written owner/name, and lies at github, gitlab or codeberg.';
    return (await lsRemote(['--heads'], url)).map(([sha, ref]) => `${sha.slice(0, 10)} ${ref.replace('refs/heads/', '')}`).join('\n') || none(name);
  });

server.tool('newest_tag', 'Says which version tag of a public repository is the highest.', { required: { repository }, optional: { host }, annotations: web },
  async ({ repository: name, host: where }) => {
    const url = address(name, where);
    if (!url) return 'A repository is written owner/name, and lies at github, gitlab or codeberg.';
    const versions = (await lsRemote(['--tags', '--refs'], url)).map(([, ref]) => ref.replace('refs/tags/', '')).filter((tag) => /^v?\d+(\.\d+)+$/.test(tag));
    const parts = (tag) => tag.replace(/^v/, '').split('.').map(Number);
    versions.sort((a, b) => { const [x, y] = [parts(a), parts(b)]; const i = x.findIndex((n, k) => n !== y[k]); return i < 0 ? 0 : (y[i] ?? -1) - x[i]; });
    return versions[0] ?? none(name);
  });

server.tool('clone_command', 'Writes the command with which to clone a repository.', { required: { repository }, optional: { host, shallow: { type: 'boolean' } }, annotations: { readOnlyHint: true, openWorldHint: false } },
  ({ repository: name, host: where, shallow = false }) => { const url = address(name, where); return url ? `git clone ${shallow ? '--depth 1 ' : ''}${url}` : 'A repository is written owner/name, and lies at github, gitlab or codeberg.'; });

server.run();
