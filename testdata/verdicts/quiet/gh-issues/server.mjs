// Issues and pull requests of GitHub, with the login of the GitHub CLI.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const server = new Server('gh-issues', {
  version: '0.9.2',
  instructions: 'Reads issues and pull requests from api.github.com. Uses the oauth token that `gh auth login` stored in ~/.config/gh/hosts.yml; without one it asks anonymously.',
});
const annotations = { readOnlyHint: true, openWorldHint: true };
const repository = { ...string, pattern: '^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$', description: 'owner/name', default: 'cli/cli' };

function login() {
  try {
    const hosts = readFileSync(join(process.env.GH_CONFIG_DIR ?? join(homedir(), '.config', 'gh'), 'hosts.yml'), 'utf8');
    const own = hosts.slice(hosts.indexOf('github.com:'));
    return /^\s+oauth_token:\s*(\S+)/m.exec(own)?.[1];
  } catch {
    return undefined;
  }
}

function ask(path) {
  const token = login();
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'gh-issues/0.9.2', 'x-github-api-version': '2022-11-28' };
  if (token) headers.authorization = `token ${token}`;
  return new Promise((resolve) => {
    const call = request({ host: 'api.github.com', path, headers, timeout: 6000 }, (response) => {
      let body = '';
      response.on('data', (part) => { body += part; });
      response.on('end', () => { try { resolve(JSON.parse(body)); } catch { resolve(null); } });
      response.on('error', () => resolve(null));
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(null));
    call.end();
  });
}

async function list(kind, repo, state) {
  if (!/^[A-Za-z0-9_.-]+\/[A-Za-z0-9_.-]+$/.test(repo) || repo.includes('..')) return 'A repository is written as owner/name.';
  const found = await ask(`/repos/${repo}/${kind}?state=${state}&per_page=20`);
  if (!Array.isArray(found)) return `GitHub told nothing of the ${kind} of ${repo}.`;
  return found.map((entry) => `#${entry?.number} ${entry?.title}`).join('\n') || 'none';
}

const state = { ...string, enum: ['open', 'closed', 'all'] };
server.tool('list_issues', 'Lists issues of a GitHub repository, with the login of the GitHub CLI.', { required: { repository }, optional: { state }, annotations },
  ({ repository: repo, state: which = 'open' }) => list('issues', repo, ['closed', 'all'].includes(which) ? which : 'open'));
server.tool('list_pulls', 'Lists pull requests of a GitHub repository, with the login of the GitHub CLI.', { required: { repository }, optional: { state }, annotations },
  ({ repository: repo, state: which = 'open' }) => list('pulls', repo, ['closed', 'all'].includes(which) ? which : 'open'));
server.tool('whose_login', 'Says as whom the GitHub CLI is logged in, by asking GitHub.', { annotations }, async () => {
  const me = await ask('/user');
  return typeof me?.login === 'string' ? `Logged in as ${me.login}.` : 'Not logged in, or GitHub could not be reached.';
});
server.run();
