#!/usr/bin/env node
// vault-backlinks: who links here? For a folder of Markdown notes with [[wiki links]], such as an Obsidian vault.
import { existsSync, promises as fs, watch } from 'node:fs';
import path from 'node:path';
import { Server } from './mcp.mjs';

const vault = path.resolve(process.argv[2] ?? process.env.VAULT ?? 'vault');
const LINK = /(!?)\[\[([^\]|#\n]{1,300})((?:#[^\]|\n]{0,300})?(?:\|[^\]\n]{0,300})?)\]\]/g;
let notes = null; // name → { file, links }; null when something changed

async function* walk(folder) {
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.')) continue; // .obsidian, .trash, .git
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else if (entry.isFile() && entry.name.endsWith('.md')) yield full;
  }
}

const nameOf = (file) => path.basename(file, '.md');
const target = (link) => link.trim().split('/').at(-1).replace(/\.md$/, '').toLowerCase();

async function index() {
  if (notes) return notes;
  const fresh = new Map();
  if (existsSync(vault)) {
    for await (const file of walk(vault)) {
      const text = await fs.readFile(file, 'utf8');
      const links = [...text.matchAll(LINK)].map((m) => ({ to: target(m[2]), line: text.slice(0, m.index).split('\n').length, shown: m[0] }));
      fresh.set(nameOf(file).toLowerCase(), { file, links });
    }
  }
  notes = fresh;
  return notes;
}

// The index is read again after a change. Not every system can watch folders recursively; then it is read each time.
let watched = false;
try {
  watch(vault, { recursive: true, persistent: false }, () => { notes = null; }).on('error', () => { watched = false; });
  watched = true;
} catch { /* no vault yet, or no watcher */ }
const current = async () => { if (!watched) notes = null; return index(); };

async function find(name) {
  const note = (await current()).get(target(name));
  if (!note) throw new Error(`there is no note ${name} in ${vault}`);
  return note;
}
const shown = (file) => path.relative(vault, file);

const note = { type: 'string', description: 'name of a note, without .md', minLength: 1, maxLength: 200 };
const looks = { readOnlyHint: true, openWorldHint: false };
const server = new Server('vault-backlinks', {
  version: '0.10.0',
  instructions: `The vault is ${vault}. Hidden folders such as .obsidian are left alone. While the server runs it watches the vault for changes.`,
});

server.tool('backlinks', 'Lists the notes that link to a note, with line numbers.', { required: { note }, annotations: looks }, async ({ note: name }) => {
  await find(name);
  const lines = [];
  for (const { file, links } of (await index()).values()) for (const l of links) if (l.to === target(name)) lines.push(`${shown(file)}:${l.line}  ${l.shown}`);
  return lines.join('\n') || 'Nothing links here.';
});

server.tool('orphans', 'Lists the notes that no other note links to.', { annotations: looks }, async () => {
  const all = await current();
  const linked = new Set([...all].flatMap(([own, n]) => n.links.map((l) => l.to).filter((to) => to !== own)));
  return [...all].filter(([name]) => !linked.has(name)).map(([, n]) => shown(n.file)).sort().slice(0, 500).join('\n') || 'No orphans.';
});

server.tool('broken_links', 'Lists links to notes that do not exist.', { annotations: looks }, async () => {
  const all = await current();
  const lines = [];
  for (const { file, links } of all.values()) for (const l of links) if (!all.has(l.to) && !/\.[a-z0-9]{2,4}$/.test(l.to)) lines.push(`${shown(file)}:${l.line}  ${l.shown}`);
  return lines.slice(0, 500).join('\n') || 'All links lead somewhere.';
});

server.tool('rename_note', 'Renames a note in its folder and rewrites the links to it in all other notes of the vault.', {
  required: { note, to: { ...note, description: 'the new name, without .md' } },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}, async ({ note: name, to }) => {
  if (!/^[^/\\:*?"<>|#^[\]\x00-\x1f.][^/\\:*?"<>|#^[\]\x00-\x1f]{0,150}$/.test(to)) throw new Error('the new name has characters that a note cannot have');
  const { file } = await find(name);
  const next = path.join(path.dirname(file), `${to}.md`);
  if ((await index()).has(to.toLowerCase()) && target(name) !== to.toLowerCase()) throw new Error(`a note ${to} is there already`);
  let changed = 0;
  for (const { file: other, links } of (await index()).values()) {
    if (!links.some((l) => l.to === target(name))) continue;
    const text = await fs.readFile(other, 'utf8');
    const rewritten = text.replace(LINK, (all, embed, link, rest) => {
      if (target(link) !== target(name)) return all;
      changed++;
      return `${embed}[[${link.includes('/') ? `${link.slice(0, link.lastIndexOf('/') + 1)}` : ''}${to}${rest}]]`;
    });
    await fs.writeFile(`${other}.tmp`, rewritten);
    await fs.rename(`${other}.tmp`, other);
  }
  await fs.rename(file, next);
  notes = null;
  return `${shown(file)} is now ${shown(next)}; ${changed} links rewritten.`;
});

server.run();
