// draft-history: every saved state of a draft, gzipped, in ~/.local/share/draft-history/<draft>/.
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Server, string } from './mcp.mjs';

const ROOT = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'draft-history');
const KEEP = Number.parseInt(process.env.DRAFT_HISTORY_KEEP ?? '', 10) || 40;
const gzip = promisify(zlib.gzip);
const gunzip = promisify(zlib.gunzip);

const slug = (title) => {
  const s = title.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 48);
  if (!s) throw new Error('The title needs a letter or a digit.');
  return s;
};

// A version's file is NNNN-HASH.txt.gz.
async function versions(draft) {
  const names = await readdir(join(ROOT, draft)).catch(() => []);
  return names.map((file) => /^(\d{4,})-([0-9a-f]{8})\.txt\.gz$/.exec(file)).filter(Boolean)
    .map(([file, n, hash]) => ({ file, n: Number(n), hash })).sort((a, b) => a.n - b.n);
}

const text = async (draft, version) => (await gunzip(await readFile(join(ROOT, draft, version.file)), { maxOutputLength: 8 << 20 })).toString('utf8');
const words = (s) => s.split(/\s+/).filter(Boolean).length;

const server = new Server('draft-history', {
  version: '2.2.1',
  instructions: `Keeps versions of drafts in ${ROOT.replace(homedir(), '~')}. The last ${KEEP} versions of a draft are kept; saving another drops the oldest.`,
});
const title = { ...string, minLength: 1, maxLength: 120 };

server.tool('save_draft', `Saves a text as the next version of a draft. Beyond ${KEEP} versions the oldest is deleted. A text that is the same as the last version is not saved again.`, {
  required: { title, text: string }, annotations: { title: 'Save draft', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}, async ({ title: name, text: body }) => {
  if (body.length > 2e6) throw new Error('A draft may have two million characters.');
  const draft = slug(name);
  const old = await versions(draft);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 8);
  if (old.at(-1)?.hash === hash) return `Nothing changed since version ${old.at(-1).n}.`;
  const n = (old.at(-1)?.n ?? 0) + 1;
  const folder = join(ROOT, draft);
  const file = join(folder, `${String(n).padStart(4, '0')}-${hash}.txt.gz`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(`${file}.part`, await gzip(body));
  await rename(`${file}.part`, file);
  const surplus = old.slice(0, Math.max(0, old.length + 1 - KEEP));
  await Promise.all(surplus.map((v) => rm(join(folder, v.file), { force: true })));
  return `Saved version ${n} of ${draft}, ${words(body)} words.${surplus.length ? ` Dropped version ${surplus.map((v) => v.n).join(', ')}.` : ''}`;
});

server.tool('list_drafts', 'Lists the drafts and how many versions of each are kept.', { annotations: { readOnlyHint: true, openWorldHint: false } }, async () => {
  const drafts = (await readdir(ROOT, { withFileTypes: true }).catch(() => [])).filter((d) => d.isDirectory()).map((d) => d.name).sort();
  const lines = await Promise.all(drafts.map(async (d) => { const v = await versions(d); return `${d}: ${v.length} versions, the last is ${v.at(-1)?.n ?? '-'}`; }));
  return lines.join('\n') || 'No drafts yet.';
});

server.tool('read_version', 'Answers a draft as it was in a version, the last one unless said otherwise.', {
  required: { title }, optional: { version: { type: 'integer', minimum: 1 } }, annotations: { readOnlyHint: true, openWorldHint: false },
}, async ({ title: name, version }) => {
  const all = await versions(slug(name));
  const one = version === undefined ? all.at(-1) : all.find((v) => v.n === version);
  return one ? text(slug(name), one) : `Versions of ${slug(name)}: ${all.map((v) => v.n).join(', ') || 'none'}`;
});

server.tool('compare_versions', 'Shows which lines were added and taken away between two versions of a draft.', {
  required: { title, from: { type: 'integer' }, to: { type: 'integer' } }, annotations: { readOnlyHint: true, openWorldHint: false },
}, async ({ title: name, from, to }) => {
  const all = await versions(slug(name));
  const pair = [from, to].map((n) => all.find((v) => v.n === n));
  if (pair.includes(undefined)) return `Versions: ${all.map((v) => v.n).join(', ') || 'none'}`;
  const [a, b] = await Promise.all(pair.map(async (v) => (await text(slug(name), v)).split('\n')));
  const [inA, inB] = [new Set(a), new Set(b)];
  return [...a.filter((l) => !inB.has(l)).map((l) => `- ${l}`), ...b.filter((l) => !inA.has(l)).map((l) => `+ ${l}`)].slice(0, 400).join('\n') || 'The same lines.';
});

server.run();
