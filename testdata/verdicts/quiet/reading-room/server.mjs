#!/usr/bin/env node
// reading-room: a catalogue in pages. Lists have cursors, slow tools report progress and can be cancelled, logging follows logging/setLevel.
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const SHELVES = ['astronomy', 'botany', 'chess', 'drama', 'economics', 'folklore', 'geology', 'history'];
const books = SHELVES.flatMap((shelf, s) => Array.from({ length: 40 }, (_, i) => ({ id: `${shelf.slice(0, 3)}-${i + 1}`, shelf, title: `${['A Short History', 'Elements', 'Letters', 'The Practice', 'An Atlas'][(i + s) % 5]} of ${shelf[0].toUpperCase()}${shelf.slice(1)}, vol. ${Math.floor(i / 5) + 1}`, year: 1801 + ((i * 37 + s * 11) % 220) })));
const PAGE = 3;
let level = 'warning';
const cancelled = new Set();

const out = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const log = (at, data) => { if (LEVELS.indexOf(at) >= LEVELS.indexOf(level)) out({ method: 'notifications/message', params: { level: at, logger: 'reading-room', data } }); };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const annotations = { readOnlyHint: true, openWorldHint: false };
const shelf = { type: 'string', enum: SHELVES };
const tools = [
  { name: 'browse_shelf', description: 'Lists the books of a shelf, ten on a page.', inputSchema: { type: 'object', properties: { shelf, page: { type: 'integer', minimum: 1, maximum: 4 } }, required: ['shelf'] }, annotations },
  { name: 'show_book', description: 'Shows one book by its id.', inputSchema: { type: 'object', properties: { id: { type: 'string', examples: ['che-4'] } }, required: ['id'] }, annotations },
  { name: 'find_books', description: 'Finds books whose title contains a word.', inputSchema: { type: 'object', properties: { word: { type: 'string', examples: ['atlas'] } }, required: ['word'] }, annotations },
  { name: 'count_by_century', description: 'Counts the books of each century, shelf by shelf. Reports progress.', inputSchema: { type: 'object', properties: {} }, annotations },
  { name: 'random_book', description: 'Picks a book.', inputSchema: { type: 'object', properties: { shelf } }, annotations },
];
const line = (b) => `${b.id}: ${b.title} (${b.year})`;

async function call({ name, arguments: args = {}, _meta: meta }, id) {
  log('info', `${name} was called`);
  if (name === 'browse_shelf') {
    const page = Number.isInteger(args.page) && args.page > 0 ? args.page : 1;
    return books.filter((b) => b.shelf === args.shelf).slice((page - 1) * 10, page * 10).map(line).join('\n') || `Nothing there. Shelves: ${SHELVES.join(', ')}; each has 4 pages.`;
  }
  if (name === 'show_book') return JSON.stringify(books.find((b) => b.id === args.id) ?? 'There is no such book.');
  if (name === 'find_books') return books.filter((b) => b.title.toLowerCase().includes(String(args.word ?? '').toLowerCase())).slice(0, 20).map(line).join('\n') || 'No title contains this word.';
  if (name === 'random_book') {
    const some = SHELVES.includes(args.shelf) ? books.filter((b) => b.shelf === args.shelf) : books;
    return line(some[Math.floor(Math.random() * some.length)]);
  }
  const counts = new Map();
  for (const [i, one] of SHELVES.entries()) {
    if (cancelled.delete(id)) { log('notice', 'counting was cancelled'); return null; }
    for (const b of books.filter((x) => x.shelf === one)) { const c = Math.floor(b.year / 100) + 1; counts.set(c, (counts.get(c) ?? 0) + 1); }
    if (meta?.progressToken !== undefined) out({ method: 'notifications/progress', params: { progressToken: meta.progressToken, progress: i + 1, total: SHELVES.length, message: one } });
    await pause(40);
  }
  return [...counts].sort((a, b) => a[0] - b[0]).map(([c, n]) => `${c}th century: ${n}`).join('\n');
}

function page(list, cursor) {
  const at = cursor === undefined ? 0 : Number(Buffer.from(String(cursor), 'base64url').toString().replace(/^at:/, ''));
  if (!Number.isInteger(at) || at < 0 || at > list.length) return null;
  const next = at + PAGE;
  return { items: list.slice(at, next), ...(next < list.length ? { nextCursor: Buffer.from(`at:${next}`).toString('base64url') } : {}) };
}

async function onMessage(message) {
  const { id, method, params = {} } = message ?? {};
  if (method === 'notifications/cancelled') { cancelled.add(params.requestId); return; }
  if (id === undefined) return;
  const fail = (code, message) => out({ id, error: { code, message } });
  switch (method) {
    case 'initialize': return out({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}, resources: {}, logging: {} }, serverInfo: { name: 'reading-room', version: '3.2.1' } } });
    case 'ping': return out({ id, result: {} });
    case 'logging/setLevel':
      if (!LEVELS.includes(params.level)) return fail(-32602, 'no such level');
      level = params.level;
      return out({ id, result: {} });
    case 'tools/list': case 'resources/list': {
      const list = method === 'tools/list' ? tools : SHELVES.map((s) => ({ uri: `shelf:///${s}`, name: s, mimeType: 'text/plain' }));
      const found = page(list, params.cursor);
      if (!found) return fail(-32602, 'no such cursor');
      const { items, ...more } = found;
      return out({ id, result: { [method.split('/')[0]]: items, ...more } });
    }
    case 'resources/read': {
      const name = SHELVES.find((s) => params.uri === `shelf:///${s}`);
      if (!name) return fail(-32002, 'no such shelf');
      return out({ id, result: { contents: [{ uri: params.uri, mimeType: 'text/plain', text: books.filter((b) => b.shelf === name).map(line).join('\n') }] } });
    }
    case 'tools/call': {
      if (!tools.some((t) => t.name === params.name)) return fail(-32602, 'no such tool');
      const text = await call(params, id);
      return text === null ? undefined : out({ id, result: { content: [{ type: 'text', text }] } });
    }
    default: return fail(-32601, 'no such method');
  }
}

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const parts = (rest + chunk).split('\n');
  rest = parts.pop();
  for (const part of parts) { try { onMessage(JSON.parse(part)); } catch { /* not JSON */ } }
});
