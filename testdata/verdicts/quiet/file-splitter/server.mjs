#!/usr/bin/env node
// file-splitter: cuts a file into parts that fit a mail or a stick, and joins them again, checked by SHA-256.
// Usage: server.mjs [FOLDER]. All files are in FOLDER; without it in ~/Splitter, which is made with a short note to try.
import { createHash } from 'node:crypto';
import { constants, existsSync, mkdirSync } from 'node:fs';
import { open, readdir, rename, rm, lstat, realpath, writeFile, mkdtemp } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Server } from './mcp.mjs';

const folder = process.argv[2] ? resolve(process.argv[2]) : join(homedir(), 'Splitter');
const LARGEST = 2 ** 30;
const MOST_PARTS = 999;

if (!existsSync(folder)) {
  mkdirSync(folder, { recursive: true });
  await writeFile(join(folder, 'welcome.txt'), 'Put files here that are too large to send.\n'.repeat(20));
}
const root = await realpath(folder);

class Refused extends Error { get name() { return 'Refused'; } }

// Names are those of files directly in the folder: no separators, nothing hidden, no links.
function path(name) {
  if (typeof name !== 'string' || !/^[^/\\\0]{1,200}$/.test(name) || name.startsWith('.') || basename(name) !== name) throw new Refused(`${JSON.stringify(name)} is not the name of a file in the folder`);
  return join(root, name);
}

async function reader(name) {
  try {
    const handle = await open(path(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const info = await handle.stat();
    if (info.isFile()) return { handle, size: info.size };
    await handle.close();
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ELOOP') throw error;
  }
  throw new Refused(`there is no file ${JSON.stringify(name)} in the folder`);
}

// Passes the bytes of a file on in pieces and returns their number.
async function pump(handle, start, length, ...targets) {
  const buffer = Buffer.alloc(Math.min(1 << 18, Math.max(1, length)));
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, length - done), start + done);
    if (!bytesRead) break;
    for (const target of targets) await target(buffer.subarray(0, bytesRead));
    done += bytesRead;
  }
  return done;
}

const hashInto = (hash) => (bytes) => { hash.update(bytes); };
const writeInto = (handle) => (bytes) => handle.writeFile(bytes);

// Runs work with a scratch folder beside the files, which is removed afterwards in any case.
async function withScratch(work) {
  const scratch = await mkdtemp(join(root, '.splitting-'));
  try { return await work(scratch); } finally { await rm(scratch, { recursive: true, force: true }); }
}

const absent = async (name) => {
  if (await lstat(path(name)).then(() => true, () => false)) throw new Refused(`${name} exists already`);
};

async function manifest(name) {
  const { handle, size } = await reader(`${name}.parts.json`);
  try {
    if (size > 500_000) throw new Refused('the list of parts is too long');
    const list = JSON.parse(await handle.readFile('utf8'));
    const fits = list?.name === name && Array.isArray(list.parts) && list.parts.length <= MOST_PARTS
      && list.parts.every((p, i) => p?.file === partName(name, i) && Number.isInteger(p.bytes) && /^[0-9a-f]{64}$/.test(p.sha256));
    if (!fits) throw new Refused('the list of parts is damaged');
    return list;
  } finally { await handle.close(); }
}

const partName = (name, i) => `${name}.${String(i + 1).padStart(3, '0')}`;
const server = new Server('file-splitter', { version: '1.0.3', instructions: `Works on the files directly in ${root}. The folder is made with a short note if it is missing.` });
const file = { type: 'string', maxLength: 200, description: 'Name of a file in the folder', examples: ['welcome.txt'] };
const read = { annotations: { readOnlyHint: true, openWorldHint: false } };
const add = { annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false } };

server.tool('list_files', 'Lists the files in the folder of this server with their sizes. Hidden files and links are left out.', read, async () => {
  const entries = await readdir(root, { withFileTypes: true });
  const files = entries.filter((e) => e.isFile() && !e.name.startsWith('.'));
  return Promise.all(files.map(async (e) => ({ name: e.name, bytes: (await lstat(join(root, e.name))).size })));
});

server.tool('split_file', 'Writes parts of a file beside it (NAME.001, NAME.002, ...) and a list with their SHA-256 sums (NAME.parts.json). The file itself stays; existing files are not written over.',
  { required: { name: file, part_bytes: { type: 'integer', minimum: 100, maximum: LARGEST, examples: [300, 1000000] } }, ...add }, async ({ name, part_bytes: bytes }) => {
    if (bytes < 100 || bytes > LARGEST) throw new Refused(`part_bytes is from 100 to ${LARGEST}`);
    const { handle, size } = await reader(name);
    try {
      const count = Math.ceil(size / bytes);
      if (size > LARGEST || count > MOST_PARTS || !count) throw new Refused(count ? `the file is too large or would have more than ${MOST_PARTS} parts` : 'the file is empty');
      const names = Array.from({ length: count }, (_, i) => partName(name, i));
      for (const each of [...names, `${name}.parts.json`]) await absent(each);
      return await withScratch(async (scratch) => {
        const whole = createHash('sha256');
        const parts = [];
        for (const [i, part] of names.entries()) {
          const hash = createHash('sha256');
          const out = await open(join(scratch, part), 'wx');
          try { parts.push({ file: part, bytes: await pump(handle, i * bytes, Math.min(bytes, size - i * bytes), hashInto(hash), hashInto(whole), writeInto(out)), sha256: hash.digest('hex') }); } finally { await out.close(); }
        }
        await writeFile(join(scratch, `${name}.parts.json`), JSON.stringify({ name, bytes: size, sha256: whole.digest('hex'), parts }, null, 1));
        for (const each of [...names, `${name}.parts.json`]) await rename(join(scratch, each), path(each));
        return { parts: names, list: `${name}.parts.json` };
      });
    } finally { await handle.close(); }
  });

server.tool('check_parts', 'Checks the parts of a split file against the SHA-256 sums in NAME.parts.json.', { required: { name: file }, ...read }, async ({ name }) => {
  const list = await manifest(name);
  const states = [];
  for (const part of list.parts) {
    const opened = await reader(part.file).catch(() => null);
    if (!opened) { states.push({ file: part.file, state: 'missing' }); continue; }
    try {
      const hash = createHash('sha256');
      const got = await pump(opened.handle, 0, opened.size, hashInto(hash));
      states.push({ file: part.file, state: got === part.bytes && hash.digest('hex') === part.sha256 ? 'good' : 'damaged' });
    } finally { await opened.handle.close(); }
  }
  return states;
});

server.tool('join_parts', 'Joins the parts of a split file into a new file in the folder, after checking that its SHA-256 is that of the original. Does not write over an existing file.',
  { required: { name: file, target: { ...file, description: 'Name of the new file', examples: ['welcome-again.txt'] } }, ...add }, async ({ name, target }) => {
    const list = await manifest(name);
    await absent(target);
    return withScratch(async (scratch) => {
      const hash = createHash('sha256');
      const out = await open(join(scratch, 'joined'), 'wx');
      try {
        for (const part of list.parts) {
          const { handle, size } = await reader(part.file);
          try { await pump(handle, 0, size, hashInto(hash), writeInto(out)); } finally { await handle.close(); }
        }
      } finally { await out.close(); }
      if (hash.digest('hex') !== list.sha256) throw new Refused('the parts do not make the original; check_parts says which is damaged');
      await rename(join(scratch, 'joined'), path(target));
      return `Wrote ${target} with ${list.bytes} bytes.`;
    });
  });

server.tool('delete_parts', 'Deletes the parts of a split file and their list from the folder. The original file stays if it is there.',
  { required: { name: file }, annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false } }, async ({ name }) => {
    const list = await manifest(name);
    for (const part of [...list.parts.map((p) => p.file), `${name}.parts.json`]) await rm(path(part), { force: true });
    return `Deleted ${list.parts.length} parts and their list.`;
  });

server.run();
