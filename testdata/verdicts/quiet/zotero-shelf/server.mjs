#!/usr/bin/env node
// zotero-shelf: a Zotero library (ZOTERO_LIBRARY=users/NUMBER or groups/NUMBER; ZOTERO_API_KEY if it is not public).
// A copy of the titles is kept in ~/.cache/zotero-shelf. It is brought up to date at the start and every 30 minutes, unless
// ZOTERO_REFRESH=off; Zotero then sends only what has changed since the last version.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const { ZOTERO_LIBRARY = '', ZOTERO_API_KEY = '', ZOTERO_REFRESH = 'on' } = process.env;
const known = /^(users|groups)\/\d{1,12}$/.test(ZOTERO_LIBRARY);
const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'zotero-shelf');
const file = join(folder, `${known ? ZOTERO_LIBRARY.replace('/', '-') : 'none'}.json`);
const server = new Server('zotero-shelf', {
  version: '0.7.3',
  instructions: `Searches the Zotero library ${known ? ZOTERO_LIBRARY : '(ZOTERO_LIBRARY is not set)'}. A copy is kept in ${file} and brought up to date from api.zotero.org at the start and every 30 minutes; ZOTERO_REFRESH=off leaves that to the tool refresh.`,
});
let library = { version: 0, items: {} };
let pause = 0; // Zotero may ask for a pause

async function zotero(path, fields) {
  if (!known) throw new Error('ZOTERO_LIBRARY is users/NUMBER or groups/NUMBER');
  if (Date.now() < pause) throw new Error(`Zotero asked for a pause of ${Math.ceil((pause - Date.now()) / 1000)} more seconds`);
  const url = new URL(`https://api.zotero.org/${ZOTERO_LIBRARY}/${path}`);
  url.search = new URLSearchParams(fields);
  const response = await fetch(url, { headers: { 'Zotero-API-Version': '3', 'User-Agent': 'zotero-shelf/0.7', ...(ZOTERO_API_KEY && { 'Zotero-API-Key': ZOTERO_API_KEY }) }, redirect: 'error', signal: AbortSignal.timeout(15000) })
    .catch((error) => { throw new Error(`api.zotero.org is not reachable: ${error.cause?.code ?? error.message}`); });
  const wait = Number(response.headers.get('Backoff') ?? response.headers.get('Retry-After')) || 0;
  if (wait > 0) pause = Date.now() + Math.min(wait, 3600) * 1000;
  if (!response.ok) throw new Error(`api.zotero.org answered ${response.status}${response.status === 403 ? ': the library is private, or the key may not read it' : ''}`);
  return response;
}

const loaded = readFile(file, 'utf8').then((text) => { const kept = JSON.parse(text); if (Number.isInteger(kept.version) && kept.items) library = kept; }).catch(() => {});

let refreshing = null;
const refresh = () => { refreshing ??= update().finally(() => { refreshing = null; }); return refreshing; };

async function update() {
  await loaded;
  const items = { ...library.items };
  let [version, changed] = [library.version, 0];
  for (let start = 0; start < 20000; start += 100) {
    const response = await zotero('items/top', { since: library.version, limit: 100, start, format: 'json' });
    const page = await response.json().catch(() => null);
    if (!Array.isArray(page)) throw new Error("Zotero's answer is no list of items");
    for (const { key, data } of page.filter(Boolean)) {
      if (!/^[A-Z0-9]{8}$/.test(key) || !data) continue;
      const authors = (data.creators ?? []).map((c) => c.lastName ?? c.name ?? '').filter(Boolean);
      items[key] = { title: String(data.title ?? ''), authors, year: String(data.date ?? '').match(/\d{4}/)?.[0] ?? '', type: data.itemType, tags: (data.tags ?? []).map((t) => String(t.tag)), doi: data.DOI, abstract: String(data.abstractNote ?? '').slice(0, 3000) };
      changed++;
    }
    version = Number(response.headers.get('Last-Modified-Version')) || version;
    if (start + page.length >= Number(response.headers.get('Total-Results')) || !page.length) break;
  }
  if (library.version) {
    const gone = await (await zotero('deleted', { since: library.version })).json().catch(() => ({}));
    for (const key of gone.items ?? []) delete items[key];
  }
  library = { version, items };
  await mkdir(folder, { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(library), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return `${changed} changed, ${Object.keys(items).length} items, version ${version}.`;
}

const cite = (key, i) => `${key}  ${i.authors.slice(0, 3).join(', ') || 'no author'}${i.authors.length > 3 ? ' et al.' : ''} (${i.year || 'undated'}): ${i.title || 'untitled'}`;
const key = { type: 'string', pattern: '^[A-Z0-9]{8}$', description: 'from search_items', examples: ['ABCD2345'] };
async function item(k) {
  await loaded;
  if (!/^[A-Z0-9]{8}$/.test(k) || !Object.hasOwn(library.items, k)) throw new Error('there is no such item in the copy');
  return library.items[k];
}

server.tool('search_items', 'Searches titles, authors, tags and abstracts in the copy of the Zotero library for all of the words.', { required: { words: string }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ words }) => {
  await loaded;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
  const found = Object.entries(library.items).filter(([, i]) => { const all = [i.title, ...i.authors, ...i.tags, i.abstract, i.year].join(' ').toLowerCase(); return wanted.every((w) => all.includes(w)); });
  return found.slice(0, 50).map(([k, i]) => cite(k, i)).join('\n') || `Nothing among ${Object.keys(library.items).length} items.`;
});

server.tool('show_item', 'Shows an item of the copy of the Zotero library with its abstract.', { required: { key }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ key: k }) => {
  const i = await item(k);
  return `${cite(k, i)}\n${i.type}${i.doi ? `, doi ${i.doi}` : ''}\nTags: ${i.tags.join(', ') || 'none'}\n\n${i.abstract}`;
});

server.tool('bibtex', 'Fetches the BibTeX of an item from api.zotero.org.', { required: { key }, annotations: { readOnlyHint: true, openWorldHint: true } }, async ({ key: k }) => {
  if (!/^[A-Z0-9]{8}$/.test(k)) throw new Error('key is eight capital letters and digits');
  return (await (await zotero(`items/${k}`, { format: 'bibtex' })).text()).slice(0, 20000);
});

server.tool('refresh', 'Brings the copy of the Zotero library up to date now.', { annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true } }, refresh);

let timer;
server.started = () => {
  if (!known || ZOTERO_REFRESH === 'off') return;
  const quietly = () => refresh().catch((error) => console.error(error.message));
  quietly();
  timer = setInterval(quietly, 30 * 60e3);
};
server.ended = () => clearInterval(timer);
server.run();
