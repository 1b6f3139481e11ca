#!/usr/bin/env node
// github-releases: what is new in the things that you depend on?
//
// Asks https://api.github.com. If GITHUB_TOKEN is set, it is sent there as the Authorization header, which raises the
// number of requests from 60 to 5000 an hour and lets you see your private repositories. It is sent nowhere else.
// Answers are kept in memory and asked for again with their ETag, which costs no request of the allowance.
import { Server, string } from './mcp.mjs';
import { compare } from './semver.mjs';

const API = 'https://api.github.com';
const token = (process.env.GITHUB_TOKEN ?? '').trim();
const REPOSITORY = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;

class GitHub {
  #cache = new Map();

  left = null;

  async get(path) {
    const known = this.#cache.get(path);
    const headers = { Accept: 'application/vnd.github+json', 'User-Agent': 'github-releases-mcp/2.2', 'X-GitHub-Api-Version': '2022-11-28' };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (known) headers['If-None-Match'] = known.etag;
    let response;
    try {
      response = await fetch(API + path, { headers, redirect: 'manual', signal: AbortSignal.timeout(15_000) });
    } catch (error) {
      throw new Error(`GitHub cannot be reached: ${error.cause?.code ?? error.message}`);
    }
    this.left = response.headers.get('x-ratelimit-remaining') ?? this.left;
    if (response.status === 304 && known) return known.body;
    if (!response.ok) throw new Error(GitHub.problem(response));
    const body = await response.json().catch(() => { throw new Error('the answer of GitHub is not JSON'); });
    const etag = response.headers.get('etag');
    if (etag) {
      if (this.#cache.size >= 100) this.#cache.delete(this.#cache.keys().next().value);
      this.#cache.set(path, { etag, body });
    }
    return body;
  }

  static problem({ status, headers }) {
    if (status === 401) return 'GitHub does not accept the token in GITHUB_TOKEN';
    if (status === 404) return 'there is no such repository or release, or it is private';
    if (status >= 300 && status < 400) return 'the repository has moved; look up its new name';
    if (status === 403 && headers.get('x-ratelimit-remaining') === '0') return 'the allowance of requests is used up; set GITHUB_TOKEN or wait';
    return `GitHub answered ${status}`;
  }
}

const github = new GitHub();

function base(repository) {
  if (!REPOSITORY.test(repository)) throw new Error('a repository is named as owner/name');
  return `/repos/${repository}/releases`;
}

function brief(release) {
  if (!release || typeof release.tag_name !== 'string') throw new Error('the answer of GitHub has an unknown form');
  return { tag: release.tag_name, title: release.name || release.tag_name, day: String(release.published_at ?? '').slice(0, 10), prerelease: release.prerelease === true };
}

const full = (release) => ({
  ...brief(release),
  notes: String(release.body ?? '').slice(0, 20_000),
  files: (Array.isArray(release.assets) ? release.assets : []).map((a) => ({ name: a.name, bytes: a.size, downloads: a.download_count })),
});

const server = new Server('github-releases', { version: '2.2.0', instructions: 'Asks https://api.github.com, with the token in the variable GITHUB_TOKEN if it is set. compare_versions and outline_notes work without a network.' });
const online = { annotations: { readOnlyHint: true, openWorldHint: true } };
const offline = { annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false } };
const repository = { ...string, pattern: REPOSITORY.source, description: 'owner/name', examples: ['nodejs/node', 'git/git'] };
const version = { ...string, maxLength: 220, examples: ['v1.10.0'] };

server.tool('latest_release', 'Shows the latest release of a repository, with notes and files, from https://api.github.com. Sends the token in GITHUB_TOKEN there if it is set.', { required: { repository }, ...online }, async ({ repository }) => full(await github.get(`${base(repository)}/latest`)));

server.tool('list_releases', 'Lists the newest releases of a repository from https://api.github.com. Sends the token in GITHUB_TOKEN there if it is set.',
  { required: { repository }, optional: { count: { type: 'integer', minimum: 1, maximum: 100, default: 10 } }, ...online }, async ({ repository, count = 10 }) => {
    if (count < 1 || count > 100) throw new RangeError('count is from 1 to 100');
    const list = await github.get(`${base(repository)}?per_page=${count}`);
    if (!Array.isArray(list)) throw new Error('the answer of GitHub has an unknown form');
    return { releases: list.map(brief), 'requests left': github.left };
  });

server.tool('releases_since', 'Lists the releases of a repository that are newer than a version, oldest first, with their notes, from https://api.github.com. Sends the token in GITHUB_TOKEN there if it is set.',
  { required: { repository, version: { ...version, description: 'The version that you have' } }, ...online }, async ({ repository, version }) => {
    compare(version, version); // a wrong version fails before anything is asked
    const list = await github.get(`${base(repository)}?per_page=100`);
    const newer = (Array.isArray(list) ? list : []).filter((r) => { try { return compare(r.tag_name, version) > 0; } catch { return false; } });
    return newer.sort((a, b) => compare(a.tag_name, b.tag_name)).map((r) => ({ ...brief(r), notes: String(r.body ?? '').slice(0, 3000) }));
  });

server.tool('compare_versions', 'Says which of two versions is newer, as semver.org orders them. Works without a network.', { required: { first: { ...version, examples: ['1.10.0'] }, second: { ...version, examples: ['1.9.3-rc.1'] } }, ...offline }, ({ first, second }) => {
  const order = compare(first, second);
  return order === 0 ? `${first} and ${second} are equal.` : `${order > 0 ? first : second} is newer.`;
});

server.tool('outline_notes', 'Lists the headings and bullet points of release notes that you pass, marked if they speak of a breaking change. Works without a network.',
  { required: { notes: { ...string, maxLength: 100000, examples: ['## Changes\n- faster start\n- **Breaking:** the option --old is gone\n'] } }, ...offline }, ({ notes }) => {
    if (notes.length > 100_000) throw new Error('at most 100000 characters');
    return notes.split(/\r?\n/).flatMap((line) => {
      const heading = /^#{1,6} (.+)$/.exec(line);
      if (heading) return [{ heading: heading[1].trim() }];
      const point = /^\s{0,8}[-*+] (.+)$/.exec(line);
      return point ? [{ point: point[1].trim(), breaking: /\bbreaking\b|\bBREAKING CHANGE\b|\bremoved?\b/i.test(point[1]) }] : [];
    });
  });

server.run();
