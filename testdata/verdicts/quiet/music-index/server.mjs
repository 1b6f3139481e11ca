#!/usr/bin/env node
// music-index: search the MP3 files of ~/Music by their ID3 tags, and make playlists.
import { createInterface } from 'node:readline';
import * as fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const MUSIC = path.resolve(process.env.MUSIC_DIR || path.join(os.homedir(), 'Music'));
const INDEX = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'music-index', 'index.json');
const PLAYLISTS = path.join(MUSIC, 'Playlists');
const FRAMES = { TIT2: 'title', TPE1: 'artist', TALB: 'album', TRCK: 'track', TYER: 'year', TDRC: 'year', TCON: 'genre' };

class Library {
  tracks = {}; // path below MUSIC → { mtime, title, artist, album, … }
  scanning = null;

  async open() {
    try { this.tracks = JSON.parse(await fs.readFile(INDEX, 'utf8')) ?? {}; } catch { /* the first start */ }
    this.scan().catch((error) => console.error(`music-index: ${error.message}`));
  }

  scan() {
    this.scanning ??= this.refresh().finally(() => { this.scanning = null; });
    return this.scanning;
  }

  async refresh() {
    const found = {};
    for await (const file of this.files(MUSIC)) {
      const name = path.relative(MUSIC, file);
      const { mtimeMs } = await fs.stat(file);
      const known = Object.hasOwn(this.tracks, name) ? this.tracks[name] : null;
      found[name] = known?.mtime === mtimeMs ? known : { mtime: mtimeMs, ...(await readTags(file).catch(() => ({}))) };
    }
    this.tracks = found;
    await fs.mkdir(path.dirname(INDEX), { recursive: true });
    await fs.writeFile(`${INDEX}.tmp`, JSON.stringify(found));
    await fs.rename(`${INDEX}.tmp`, INDEX);
    return Object.keys(found).length;
  }

  async* files(folder) {
    const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const e of entries.sort((a, b) => a.name.localeCompare(b.name))) {
      if (e.isDirectory() && !e.name.startsWith('.')) yield* this.files(path.join(folder, e.name));
      else if (e.isFile() && /\.mp3$/i.test(e.name)) yield path.join(folder, e.name);
    }
  }

  find(words) {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    return Object.entries(this.tracks).filter(([name, t]) => {
      const all = `${t.title ?? name} ${t.artist ?? ''} ${t.album ?? ''} ${t.genre ?? ''}`.toLowerCase();
      return parts.every((p) => all.includes(p));
    });
  }
}

// ID3v2.3 and 2.4 at the beginning of a file; at most 256 kB are read, which leaves out most cover pictures.
async function readTags(file) {
  const handle = await fs.open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256 * 1024), 0, 256 * 1024, 0);
    if (buffer.toString('latin1', 0, 3) !== 'ID3') return {};
    const safe = (at) => (buffer[at] << 21) | (buffer[at + 1] << 14) | (buffer[at + 2] << 7) | buffer[at + 3];
    const end = Math.min(10 + safe(6), bytesRead);
    const tags = {};
    for (let at = 10; at + 10 < end && buffer[at];) {
      const size = buffer[3] >= 4 ? safe(at + 4) : buffer.readUInt32BE(at + 4);
      const field = FRAMES[buffer.toString('latin1', at, at + 4)];
      if (field && size > 1 && at + 10 + size <= end) {
        const body = buffer.subarray(at + 11, at + 10 + size);
        const encoding = buffer[at + 10];
        const text = encoding === 0 ? body.toString('latin1') : encoding === 3 ? body.toString() : new TextDecoder(body[0] === 0xfe || encoding === 2 ? 'utf-16be' : 'utf-16le').decode(body);
        tags[field] = text.replace(/\0/g, ' ').trim().slice(0, 300);
      }
      at += 10 + size;
    }
    return tags;
  } finally {
    await handle.close();
  }
}

const library = new Library();
const line = ([name, t]) => `${t.artist ?? '?'} - ${t.title ?? path.basename(name)} [${t.album ?? '?'}${t.year ? `, ${t.year.slice(0, 4)}` : ''}]  ${name}`;
const WORDS = { type: 'string', description: 'words of title, artist, album or genre', minLength: 1 };
const tools = {
  search_music: [`Searches titles, artists, albums and genres of the MP3 files in ${MUSIC}.`, { words: WORDS }, { readOnlyHint: true, openWorldHint: false },
    ({ words }) => library.find(words).slice(0, 100).map(line).join('\n') || 'Nothing found.'],
  list_albums: ['Lists artists and albums with the number of their tracks.', {}, { readOnlyHint: true, openWorldHint: false }, () => {
    const albums = new Map();
    for (const t of Object.values(library.tracks)) { const key = `${t.artist ?? '?'}: ${t.album ?? '?'}`; albums.set(key, (albums.get(key) ?? 0) + 1); }
    return [...albums].sort().slice(0, 1000).map(([album, n]) => `${album} (${n})`).join('\n') || `No MP3 files in ${MUSIC}.`;
  }],
  rescan: ['Looks for new, changed and removed files and writes the index in ~/.cache/music-index again.', {}, { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async () => `${await library.scan()} tracks`],
  make_playlist: [`Writes the tracks that a search finds to an M3U playlist in ${PLAYLISTS}. A playlist of the same name is replaced.`, { name: { type: 'string', pattern: '^[\\w -]{1,80}$' }, words: WORDS }, { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
    async ({ name, words }) => {
      if (!/^\w[\w -]{0,79}$/.test(name)) throw new Error('a playlist is named with letters, digits, spaces, - and _');
      const found = library.find(words);
      if (!found.length) return 'Nothing found, so nothing is written.';
      await fs.mkdir(PLAYLISTS, { recursive: true });
      const file = path.join(PLAYLISTS, `${name}.m3u8`);
      await fs.writeFile(file, `#EXTM3U\n${found.map(([track, t]) => `#EXTINF:-1,${t.artist ?? '?'} - ${t.title ?? track}\n../${track}`).join('\n')}\n`);
      return `${found.length} tracks in ${file}`;
    }],
};

async function answer({ method, params }) {
  if (method === 'initialize') {
    return { protocolVersion: params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'music-index', version: '0.3.0' },
      instructions: `Reads the MP3 files in ${MUSIC}. At the start their tags are indexed in the background; the index is ${INDEX}.` };
  }
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, [description, properties, annotations]]) => ({ name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties) }, annotations })) };
  if (method !== 'tools/call' || !Object.hasOwn(tools, params?.name)) throw new Error('not found');
  const [, properties, , run] = tools[params.name];
  const args = params.arguments ?? {};
  const missing = Object.keys(properties).filter((p) => typeof args[p] !== 'string' || !args[p].trim());
  if (missing.length) return { isError: true, content: [{ type: 'text', text: `missing: ${missing.join(', ')}` }] };
  try {
    return { content: [{ type: 'text', text: await run(args) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}

await library.open();
createInterface({ input: process.stdin }).on('line', async (text) => {
  let message;
  try { message = JSON.parse(text); } catch { return; }
  if (message?.id === undefined) return;
  const reply = await answer(message).then((result) => ({ result }), (error) => ({ error: { code: -32601, message: error.message } }));
  console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply }));
});
