#!/usr/bin/env node
// Deployments of Vercel projects: what was deployed, what the build said, and whether vercel.json makes sense.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const version = '1.2.0';
const { HOME = os.homedir(), XDG_DATA_HOME = path.join(HOME, '.local/share'), XDG_CACHE_HOME = path.join(HOME, '.cache') } = process.env;
const authFile = path.join(XDG_DATA_HOME, 'com.vercel.cli', 'auth.json');
const stamp = path.join(XDG_CACHE_HOME, 'vercel-deployments', 'update.json');

const server = new Server('vercel-deployments', {
  version,
  instructions: [
    'Reads api.vercel.com with VERCEL_TOKEN, or with the login of the Vercel CLI in ~/.local/share/com.vercel.cli/auth.json.',
    'Once a day the server asks registry.npmjs.org for its newest version and notes that in ~/.cache/vercel-deployments; VERCEL_DEPLOYMENTS_NO_UPDATE_CHECK=1 turns this off.',
  ].join('\n'),
});

async function vercel(route, query = {}) {
  let token = process.env.VERCEL_TOKEN;
  if (!token) {
    token = await readFile(authFile, 'utf8').then((text) => JSON.parse(text).token, () => null);
    if (!token) throw new Error(`no token: set VERCEL_TOKEN or run vercel login (${authFile})`);
  }
  const url = new URL(route, 'https://api.vercel.com');
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: 'error', signal: AbortSignal.timeout(15_000) })
    .catch((error) => { throw new Error(`api.vercel.com: ${error.cause?.code ?? error.message}`); });
  const data = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(`api.vercel.com: ${response.status} ${data.error?.message ?? ''}`);
  return data;
}

const ago = (time) => {
  const minutes = Math.round((Date.now() - time) / 60000);
  return minutes < 120 ? `${minutes} min ago` : minutes < 2880 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
};
const remote = { readOnlyHint: true, openWorldHint: true };

server.tool('list_deployments', 'Lists the latest deployments, of one project or of all.', {
  optional: { project: string, target: { type: 'string', enum: ['production', 'preview'] }, limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }, annotations: { title: 'Deployments', ...remote },
}, async ({ project, target, limit = 20 }) => {
  const { deployments = [] } = await vercel('/v6/deployments', { app: project, target, limit: Math.min(Math.max(limit, 1), 100) });
  return deployments.map((d) => `${d.uid}  ${d.name}  ${d.state ?? d.readyState}  ${d.target ?? 'preview'}  ${ago(d.created)}  ${d.meta?.githubCommitMessage?.split('\n')[0] ?? ''}`).join('\n') || 'No deployments.';
});

server.tool('build_log', 'Shows the end of the build log of a deployment.', {
  required: { deployment: { type: 'string', description: 'An id such as dpl_…, or the address of the deployment' } }, optional: { lines: { type: 'integer', minimum: 1, maximum: 1000 } }, annotations: { title: 'Build log', ...remote },
}, async ({ deployment, lines = 100 }) => {
  const id = deployment.replace(/^https?:\/\//, '').replace(/\/+$/, '');
  const events = await vercel(`/v3/deployments/${encodeURIComponent(id)}/events`, { builds: 1, limit: -1 });
  const text = (Array.isArray(events) ? events : []).map((e) => e.text ?? e.payload?.text).filter(Boolean);
  return text.slice(-Math.min(Math.max(lines, 1), 1000)).join('\n') || 'The log is empty.';
});

server.tool('check_vercel_json', 'Checks vercel.json in the working directory for mistakes that the build would only report later.', {
  annotations: { title: 'Check vercel.json', readOnlyHint: true, openWorldHint: false },
}, async () => {
  const text = await readFile('vercel.json', 'utf8').catch(() => null);
  if (text === null) return `There is no vercel.json in ${process.cwd()}, so Vercel's defaults hold.`;
  let config;
  try { config = JSON.parse(text); } catch (error) { return `vercel.json is no JSON: ${error.message}`; }
  const found = [];
  const modern = ['rewrites', 'redirects', 'headers', 'cleanUrls', 'trailingSlash'].filter((k) => k in config);
  if ('routes' in config && modern.length) found.push(`routes cannot stand beside ${modern.join(', ')}`);
  if ('builds' in config && 'functions' in config) found.push('builds cannot stand beside functions');
  if (config.version === 1) found.push('version 1 is no longer served');
  for (const [i, r] of [...(Array.isArray(config.redirects) ? config.redirects : [])].entries()) {
    if (!r?.source?.startsWith?.('/')) found.push(`redirects[${i}]: source starts with /`);
    if (r?.permanent !== undefined && r?.statusCode !== undefined) found.push(`redirects[${i}]: permanent and statusCode exclude each other`);
  }
  for (const cron of Array.isArray(config.crons) ? config.crons : []) if (String(cron?.schedule).trim().split(/\s+/).length !== 5) found.push(`crons: "${cron?.schedule}" has to have five fields`);
  return found.join('\n') || 'No mistakes found.';
});

const leaving = new AbortController();
// A newer version is only mentioned on stderr; nothing is installed.
async function checkForUpdate() {
  if (process.env.VERCEL_DEPLOYMENTS_NO_UPDATE_CHECK === '1' || process.env.CI) return;
  const last = await readFile(stamp, 'utf8').then(JSON.parse, () => ({}));
  if (Date.now() - (last.checked ?? 0) < 86_400_000) return;
  const response = await fetch('https://registry.npmjs.org/@example%2fvercel-deployments/latest', { signal: AbortSignal.any([AbortSignal.timeout(5000), leaving.signal]) });
  const latest = response.ok ? (await response.json()).version : undefined;
  await mkdir(path.dirname(stamp), { recursive: true });
  await writeFile(stamp, JSON.stringify({ checked: Date.now(), latest }));
  if (latest && latest !== version) process.stderr.write(`vercel-deployments ${latest} is out; this is ${version}\n`);
}
server.ended = () => leaving.abort();
server.started = () => { checkForUpdate().catch(() => {}); };

server.run();
