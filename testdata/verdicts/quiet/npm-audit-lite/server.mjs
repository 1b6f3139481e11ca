#!/usr/bin/env node
// npm-audit-lite: what npm audit tells, for the text of a package-lock.json, without npm and without installing anything.
//
// Only find_advisories uses the network: it posts names and versions of packages to the advisory service of
// registry.npmjs.org, which is what npm itself does. Answers are kept in memory for ten minutes.
import { createHash } from 'node:crypto';
import { Server } from './mcp.mjs';
import { LONGEST, packages, remarks } from './lockfile.mjs';

const SERVICE = 'https://registry.npmjs.org/-/npm/v1/security/advisories/bulk';
const LEVELS = ['info', 'low', 'moderate', 'high', 'critical'];
const FRESH = 10 * 60_000;
const answers = new Map(); // digest of a question: { when, answer }

const EXAMPLE = JSON.stringify({
  lockfileVersion: 3,
  packages: {
    '': { name: 'demo', version: '1.0.0' },
    'node_modules/lodash': { version: '4.17.15', resolved: 'https://registry.npmjs.org/lodash/-/lodash-4.17.15.tgz', integrity: 'sha512-8xOcRHvCjnocdS5cpwXQXVzmmh5e5+saE2QGoeQmbKmRS6J3VQppPOIt0MnmE+4xlZoumy0GPG0D0MVIQbNA1A==' },
    'node_modules/old-thing': { version: '0.1.2', resolved: 'http://packages.example.org/old-thing.tgz', dev: true },
  },
});

const server = new Server('npm-audit-lite', { version: '0.8.2', instructions: 'Pass the text of a package-lock.json. find_advisories sends names and versions of its packages (nothing else) to registry.npmjs.org; the other tools work on the text alone.' });
const lockfile = { type: 'string', maxLength: LONGEST, description: 'Text of a package-lock.json, version 2 or 3', examples: [EXAMPLE] };
const local = { annotations: { readOnlyHint: true, openWorldHint: false } };

async function advisories(question) {
  const body = JSON.stringify(question);
  const key = createHash('sha256').update(body).digest('hex');
  const known = answers.get(key);
  if (known && Date.now() - known.when < FRESH) return known.answer;
  let response;
  try {
    response = await fetch(SERVICE, {
      method: 'POST', body, redirect: 'error', signal: AbortSignal.timeout(20_000),
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', 'User-Agent': `npm-audit-lite/0.8.2 node/${process.versions.node}` },
    });
  } catch (error) {
    throw new Error(`the npm registry cannot be reached: ${error.cause?.code ?? error.message}`);
  }
  if (!response.ok) throw new Error(`the npm registry answered ${response.status}`);
  const answer = await response.json().catch(() => null);
  if (!answer || typeof answer !== 'object' || Array.isArray(answer)) throw new Error('the answer of the npm registry has an unknown form');
  if (answers.size >= 50) answers.delete(answers.keys().next().value);
  answers.set(key, { when: Date.now(), answer });
  return answer;
}

server.tool('list_packages', 'Lists the packages that a package-lock.json installs, by name and version. Works on the text alone.',
  { required: { lockfile }, optional: { with_dev: { type: 'boolean', description: 'Also what only development needs', default: true } }, ...local }, ({ lockfile, with_dev = true }) => {
    const found = packages(lockfile).filter((p) => with_dev || !p.dev);
    return { count: found.length, packages: found.slice(0, 2000).map((p) => `${p.name}@${p.version}${p.dev ? ' (dev)' : ''}`) };
  });

server.tool('check_sources', 'Remarks on packages in a package-lock.json that come from elsewhere than registry.npmjs.org, lack an integrity sum or run scripts when installed. Works on the text alone; nothing is downloaded.',
  { required: { lockfile }, ...local }, ({ lockfile }) => {
    const list = [...remarks(packages(lockfile))];
    return list.length ? list.slice(0, 1000) : 'There is nothing to remark.';
  });

server.tool('find_duplicates', 'Lists packages that a package-lock.json installs in more than one version. Works on the text alone.', { required: { lockfile }, ...local }, ({ lockfile }) => {
  const versions = new Map();
  for (const { name, version } of packages(lockfile)) versions.set(name, (versions.get(name) ?? new Set()).add(version));
  const twice = [...versions].filter(([, set]) => set.size > 1).map(([name, set]) => ({ name, versions: [...set].sort() }));
  return twice.length ? twice : 'Each package is there in one version.';
});

server.tool('find_advisories', 'Sends names and versions of the packages in a package-lock.json to https://registry.npmjs.org (the advisory service that npm audit uses) and lists the known vulnerabilities.',
  { required: { lockfile }, optional: { at_least: { type: 'string', enum: LEVELS, default: 'low' } }, annotations: { readOnlyHint: true, openWorldHint: true } }, async ({ lockfile, at_least = 'low' }) => {
    if (!LEVELS.includes(at_least)) throw new Error(`at_least is one of ${LEVELS.join(', ')}`);
    const question = Object.create(null);
    for (const { name, version, resolved } of packages(lockfile)) {
      // names of private packages are nobody else's business
      if (resolved.startsWith('https://registry.npmjs.org/')) (question[name] ??= []).push(version);
    }
    const names = Object.keys(question);
    if (!names.length) return 'No package comes from registry.npmjs.org, so nothing was asked.';
    const found = [];
    for (const [name, list] of Object.entries(await advisories(question))) {
      for (const a of Array.isArray(list) ? list : []) {
        if (LEVELS.indexOf(a.severity) >= LEVELS.indexOf(at_least)) found.push({ package: name, severity: a.severity, title: String(a.title), versions: String(a.vulnerable_versions), more: String(a.url) });
      }
    }
    return { asked: names.length, advisories: found.sort((a, b) => LEVELS.indexOf(b.severity) - LEVELS.indexOf(a.severity)) };
  });

server.run();
