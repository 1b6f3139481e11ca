// Finds text in the files of the working directory, or of the folder given as argument.
import fs from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const root = realpathSync(process.argv[2] ?? '.');
const SKIP = new Set(['node_modules', '__pycache__', 'dist', 'build']);

async function* files(dir, budget = { left: 5000 }) {
  for (const entry of await fs.readdir(dir, { withFileTypes: true }).catch(() => [])) {
    if (budget.left-- <= 0) return;
    if (entry.name.startsWith('.') || SKIP.has(entry.name)) continue; // hidden files often hold secrets
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* files(full, budget);
    else if (entry.isFile()) yield full;
  }
}

async function inside(folder) {
  const full = await fs.realpath(path.resolve(root, folder)).catch(() => null);
  return full && (full === root || full.startsWith(root + path.sep)) ? full : null;
}

async function text(file) {
  const handle = await fs.open(file);
  try {
    if ((await handle.stat()).size > 1 << 20) return '';
    const data = await handle.readFile();
    return data.includes(0) ? '' : data.toString('utf8');
  } finally {
    await handle.close();
  }
}

const pure = { readOnlyHint: true, openWorldHint: false };
const folder = { type: 'string', description: 'folder below the working directory' };
const outside = 'There is no such folder in the working directory.';
const server = new Server('find-text', { version: '1.6.1', instructions: `Searches ${root}. Hidden files, binaries and installed packages are left out.` });

server.tool('find_text', 'Finds lines that contain a text in the files of the working directory.', {
  required: { query: { ...string, minLength: 1 } }, optional: { folder, ignore_case: { type: 'boolean' }, limit: { type: 'integer', minimum: 1, maximum: 200 } }, annotations: pure,
}, async ({ query, folder: where = '.', ignore_case: ignore = true, limit = 50 }) => {
  const start = await inside(where);
  if (!start) return outside;
  const fold = (s) => (ignore ? s.toLowerCase() : s);
  const hits = [];
  for await (const file of files(start)) {
    for (const [i, line] of (await text(file)).split('\n').entries()) {
      if (query && fold(line).includes(fold(query))) hits.push(`${path.relative(root, file)}:${i + 1}: ${line.trim().slice(0, 200)}`);
      if (hits.length >= Math.min(Math.max(limit, 1), 200)) return hits.join('\n');
    }
  }
  return hits.join('\n') || 'The text stands nowhere.';
});

server.tool('find_files', 'Finds files by a part of their name.', { required: { name: string }, optional: { folder }, annotations: pure }, async ({ name, folder: where = '.' }) => {
  const start = await inside(where);
  if (!start) return outside;
  const hits = [];
  for await (const file of files(start)) if (path.basename(file).toLowerCase().includes(name.toLowerCase())) hits.push(path.relative(root, file));
  return hits.slice(0, 200).join('\n') || 'No file is called like this.';
});

server.tool('largest_files', 'Lists the largest files of the working directory.', { optional: { count: { type: 'integer', minimum: 1, maximum: 50 } }, annotations: pure }, async ({ count = 10 }) => {
  const sizes = [];
  for await (const file of files(root)) sizes.push([(await fs.stat(file)).size, path.relative(root, file)]);
  return sizes.sort((a, b) => b[0] - a[0]).slice(0, Math.min(Math.max(count, 1), 50)).map(([size, file]) => `${size} ${file}`).join('\n') || 'There are no files.';
});

server.run();
