// Tags for the files of a project, kept in .tags.json beside them, so that they can be committed.
import { readFile, writeFile, rename, open, unlink, stat, realpath } from 'node:fs/promises';
import { relative, resolve, isAbsolute, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, string } from './mcp.mjs';

const root = await realpath(process.cwd());
const store = resolve(root, '.tags.json');
const lockFile = `${store}.lock`;
const staleAfter = 10_000;

const server = new Server('file-tags', {
  version: '2.0.3',
  instructions: 'Tags are kept in .tags.json in the working directory. Tags are lower case; use few and reuse those that list_tags shows.',
});

async function load() {
  try {
    return new Map(Object.entries(JSON.parse(await readFile(store, 'utf8'))));
  } catch (error) {
    if (error.code === 'ENOENT') return new Map();
    throw new Error(`cannot read ${store}: ${error.message}`);
  }
}

// Another client may have a server of its own in the same folder.
async function locked(change) {
  for (let tries = 0; ; tries++) {
    try {
      const handle = await open(lockFile, 'wx');
      await handle.write(String(process.pid));
      await handle.close();
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const age = Date.now() - (await stat(lockFile).then((s) => s.mtimeMs, () => Date.now()));
      if (age > staleAfter) await unlink(lockFile).catch(() => {});
      else if (tries > 40) throw new Error(`${lockFile} is held by another process`);
      else await sleep(50);
    }
  }
  try {
    const tags = await load();
    const result = change(tags);
    const sorted = Object.fromEntries([...tags].filter(([, list]) => list.length).sort(([a], [b]) => (a < b ? -1 : 1)));
    await writeFile(`${store}.tmp`, JSON.stringify(sorted, null, 2) + '\n');
    await rename(`${store}.tmp`, store);
    return result;
  } finally {
    await unlink(lockFile).catch(() => {});
  }
}

async function key(path) {
  const real = await realpath(resolve(root, path)).catch(() => { throw new Error(`no such file: ${path}`); });
  const name = relative(root, real);
  if (!name || name === '..' || name.startsWith('..' + sep) || isAbsolute(name)) throw new Error(`${path} is not below the working directory`);
  return name;
}

const clean = (tags) => [...new Set(tags.map((t) => String(t).trim().toLowerCase().replace(/\s+/g, '-')).filter((t) => /^[\p{L}\p{N}][\p{L}\p{N}-]{0,39}$/u.test(t)))];

const path = { type: 'string', description: 'A file below the working directory' };
const tagList = { type: 'array', items: string, minItems: 1, description: 'Tags such as draft or to-review' };

server.tool('tag_file', 'Adds tags to a file. They are written to .tags.json; the file itself is not touched.', {
  required: { path, tags: tagList }, annotations: { title: 'Tag a file', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}, async ({ path: file, tags: given }) => {
  const [name, fresh] = [await key(file), clean(given)];
  if (!fresh.length) throw new Error('a tag has letters, digits and hyphens');
  return locked((tags) => {
    tags.set(name, [...new Set([...(tags.get(name) ?? []), ...fresh])].sort());
    return `${name}: ${tags.get(name).join(', ')}`;
  });
});

server.tool('untag_file', 'Removes tags from a file in .tags.json.', {
  required: { path: string, tags: tagList }, annotations: { title: 'Remove tags', destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, ({ path: file, tags: given }) => locked((tags) => {
  // the file may be gone, its tags are not
  const name = relative(root, resolve(root, file));
  if (!tags.has(name)) return `${name} has no tags.`;
  const left = tags.get(name).filter((t) => !clean(given).includes(t));
  tags.set(name, left);
  return `${name}: ${left.join(', ') || 'no tags'}`;
}));

server.tool('find_tagged', 'Lists the files that have all of the given tags.', {
  required: { tags: tagList }, annotations: { title: 'Find files by tags', readOnlyHint: true, openWorldHint: false },
}, async ({ tags: given }) => {
  const wanted = clean(given);
  const found = [...await load()].filter(([, list]) => wanted.every((t) => list.includes(t)));
  return found.map(([name, list]) => `${name} (${list.join(', ')})`).join('\n') || 'No file has these tags.';
});

server.tool('list_tags', 'Lists all tags with the number of files that have them.', { annotations: { title: 'List tags', readOnlyHint: true, openWorldHint: false } }, async () => {
  const counts = new Map();
  for (const list of (await load()).values()) for (const t of list) counts.set(t, (counts.get(t) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([t, n]) => `${t}: ${n}`).join('\n') || 'No tags yet.';
});

server.run();
