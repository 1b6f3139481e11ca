#!/usr/bin/env node
// near-duplicates: which of these texts are almost the same? MinHash over shingles of words, and
// an exact Jaccard index for what MinHash finds. Signatures are cached in memory by content.
import { createHash } from 'node:crypto';

const HASHES = 96;
const BANDS = 24; // of 4 rows: pairs from about 0.45 on are found
const CACHE = 5000;
const cache = new Map(); // sha1 -> { signature, shingles }

const seeds = Array.from({ length: HASHES }, (_, i) => [Math.imul(i + 1, 0x9e3779b1) | 1, Math.imul(i + 7, 0x85ebca6b)]);

function fnv(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

function profile(text) {
  const key = createHash('sha1').update(text).digest('base64');
  const known = cache.get(key);
  if (known) { cache.delete(key); cache.set(key, known); return known; }
  const words = text.toLowerCase().normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? [];
  const size = words.length < 6 ? 1 : 3;
  const shingles = new Set();
  for (let i = 0; i + size <= words.length; i++) shingles.add(fnv(words.slice(i, i + size).join(' ')));
  const signature = new Uint32Array(HASHES).fill(0xffffffff);
  for (const s of shingles) seeds.forEach(([a, b], i) => { const h = (Math.imul(s ^ (s >>> 15), a) + b) >>> 0; if (h < signature[i]) signature[i] = h; });
  const made = { signature, shingles };
  cache.set(key, made);
  if (cache.size > CACHE) cache.delete(cache.keys().next().value);
  return made;
}

function jaccard(a, b) {
  if (!a.size && !b.size) return 1;
  let both = 0;
  for (const s of a) if (b.has(s)) both++;
  return both / (a.size + b.size - both);
}

function candidates(profiles) {
  const pairs = new Set();
  for (let band = 0; band < BANDS; band++) {
    const buckets = new Map();
    profiles.forEach(({ signature }, i) => {
      const key = signature.subarray(band * 4, band * 4 + 4).join();
      for (const other of buckets.get(key) ?? []) pairs.add(`${other} ${i}`);
      if ((buckets.get(key)?.length ?? 0) < 50) buckets.set(key, [...(buckets.get(key) ?? []), i]);
    });
  }
  return [...pairs].map((p) => p.split(' ').map(Number));
}

const texts = { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 1000 };
const threshold = { type: 'number', minimum: 0.45, maximum: 1, description: '0.6 unless given' };
const percent = (n) => `${Math.round(n * 100)}%`;
const TOOLS = {
  find_duplicates: {
    description: 'Finds pairs of texts that share most of their phrases, with how much of them is the same. Texts are numbered from 1.',
    inputSchema: { type: 'object', properties: { texts, threshold }, required: ['texts'] },
    run({ texts: all, threshold: least = 0.6 }) {
      const profiles = all.map(profile);
      const found = candidates(profiles).map(([i, j]) => [jaccard(profiles[i].shingles, profiles[j].shingles), i, j]).filter(([score]) => score >= least).sort((x, y) => y[0] - x[0]);
      return found.slice(0, 500).map(([score, i, j]) => `${percent(score)}  ${i + 1} and ${j + 1}`).join('\n') || `No two of the ${all.length} texts are alike.`;
    },
  },
  group_texts: {
    description: 'Puts texts that are almost the same into groups, and gives the longest of each group as its example.',
    inputSchema: { type: 'object', properties: { texts, threshold }, required: ['texts'] },
    run({ texts: all, threshold: least = 0.6 }) {
      const profiles = all.map(profile);
      const parent = all.map((_, i) => i);
      const top = (i) => { while (parent[i] !== i) i = parent[i] = parent[parent[i]]; return i; };
      for (const [i, j] of candidates(profiles)) if (jaccard(profiles[i].shingles, profiles[j].shingles) >= least) parent[top(j)] = top(i);
      const groups = Map.groupBy?.(all.keys(), top) ?? [...all.keys()].reduce((m, i) => m.set(top(i), [...(m.get(top(i)) ?? []), i]), new Map());
      return JSON.stringify([...groups.values()].map((members) => ({ members: members.map((i) => i + 1), example: members.map((i) => all[i]).sort((a, b) => b.length - a.length)[0].slice(0, 200) })), null, 1);
    },
  },
  compare_texts: {
    description: 'Says how much two texts share: phrases, words and length.',
    inputSchema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
    run({ a, b }) {
      const words = (t) => new Set(t.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
      return `phrases ${percent(jaccard(profile(a).shingles, profile(b).shingles))}, words ${percent(jaccard(words(a), words(b)))}, lengths ${a.length} and ${b.length}`;
    },
  },
};

const fits = { array: (v) => Array.isArray(v) && v.length <= 1000 && v.every((t) => typeof t === 'string'), string: (v) => typeof v === 'string', number: (v) => typeof v === 'number' };

function call({ name, arguments: given }) {
  const answer = (text, isError) => ({ content: [{ type: 'text', text }], ...(isError ? { isError } : {}) });
  const tool = typeof name === 'string' && Object.hasOwn(TOOLS, name) ? TOOLS[name] : null;
  if (!tool) return answer('unknown tool', true);
  const args = given && typeof given === 'object' ? given : {};
  const { properties, required } = tool.inputSchema;
  const wrong = Object.keys(properties).filter((p) => (p in args ? !fits[properties[p].type](args[p]) : required.includes(p)));
  if (wrong.length) return answer(`missing or wrong: ${wrong.join(', ')}`, true);
  try { return answer(tool.run(args)); } catch (error) { return answer(error.message, true); }
}

const handlers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'near-duplicates', version: '1.1.1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(TOOLS).map(([name, { run, ...shown }]) => ({ name, ...shown, annotations: { readOnlyHint: true, openWorldHint: false } })) }),
  'tools/call': call,
};

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  lines.forEach((line) => {
    let message;
    try { message = JSON.parse(line); } catch { return; }
    if (!message || message.id === undefined || typeof message.method !== 'string') return;
    const handler = Object.hasOwn(handlers, message.method) ? handlers[message.method] : null;
    const reply = handler ? { result: handler(message.params ?? {}) } : { error: { code: -32601, message: 'Method not found' } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply })}\n`);
  });
});
