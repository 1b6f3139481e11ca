// Indexes the words of the text files in a folder (the first argument). The index lies in .wordindex inside that folder.
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { Server, string } from './mcp.mjs';

const root = path.resolve(process.argv[2] ?? '.');
const store = path.join(root, '.wordindex');
const local = { openWorldHint: false };
const server = new Server('word-index', { version: '0.3.0', instructions: `Indexes ${root}. Run build_index first, then lookup.` });

function* texts(dir) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* texts(full);
    else if (entry.isFile() && /\.(md|txt|rst|org)$/.test(entry.name) && fs.statSync(full).size < 1 << 20) yield full;
  }
}

const wordsOf = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
const shard = (word) => path.join(store, createHash('sha1').update(word).digest('hex').slice(0, 2) + '.json');
const readShard = (file) => { try { return new Map(JSON.parse(fs.readFileSync(file, 'utf8'))); } catch { return new Map(); } };

server.tool('build_index', 'Reads the .md, .txt, .rst and .org files of the folder and writes the index to .wordindex in it, replacing the one before.', {
  annotations: { ...local, destructiveHint: true, idempotentHint: true },
}, () => {
  fs.mkdirSync(root, { recursive: true });
  const shards = new Map();
  let files = 0;
  for (const file of texts(root)) {
    files++;
    for (const word of wordsOf(fs.readFileSync(file, 'utf8'))) {
      const key = shard(word);
      const entries = shards.get(key) ?? shards.set(key, new Map()).get(key);
      entries.set(word, [...(entries.get(word) ?? []), path.relative(root, file)]);
    }
  }
  fs.rmSync(store, { recursive: true, force: true });
  fs.mkdirSync(store);
  for (const [file, entries] of shards) fs.writeFileSync(file, JSON.stringify([...entries]));
  return `${files} files, ${[...shards.values()].reduce((n, m) => n + m.size, 0)} words`;
});

server.tool('lookup', 'Says in which files a word stands, from the index.', {
  required: { word: { ...string, minLength: 3 } }, annotations: { ...local, readOnlyHint: true },
}, ({ word }) => {
  const wanted = word.toLowerCase().trim();
  if (!fs.existsSync(store)) return 'There is no index yet; build_index makes it.';
  return (readShard(shard(wanted)).get(wanted) ?? []).join('\n') || `"${wanted}" stands nowhere.`;
});

server.tool('index_status', 'Says when the index was built and how large it is.', { annotations: { ...local, readOnlyHint: true } }, () => {
  if (!fs.existsSync(store)) return 'not built';
  const sizes = fs.readdirSync(store).map((name) => fs.statSync(path.join(store, name)).size);
  return { built: fs.statSync(store).mtime.toISOString(), parts: sizes.length, bytes: sizes.reduce((a, b) => a + b, 0) };
});

server.run();
