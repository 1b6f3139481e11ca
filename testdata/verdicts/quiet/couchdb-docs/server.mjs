#!/usr/bin/env node
// couchdb-docs: documents of a CouchDB. COUCHDB_URL, COUCHDB_USER and COUCHDB_PASSWORD say which and as whom.
import { setTimeout as pause } from 'node:timers/promises';

const base = new URL(process.env.COUCHDB_URL || 'http://127.0.0.1:5984');
const user = process.env.COUCHDB_USER;
const login = user ? { authorization: `Basic ${Buffer.from(`${user}:${process.env.COUCHDB_PASSWORD ?? ''}`).toString('base64')}` } : {};

class Refused extends Error {}

async function couch(method, parts, { query = {}, body } = {}) {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}/${parts.map(encodeURIComponent).join('/')}`;
  url.search = new URLSearchParams(query);
  for (let attempt = 1; ; attempt++) {
    let response;
    try {
      response = await fetch(url, { method, headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }), ...login }, body: body && JSON.stringify(body), redirect: 'error', signal: AbortSignal.timeout(5000) });
    } catch (error) {
      throw new Refused(`No CouchDB at ${base.host}: ${error.cause?.code ?? error.name}`);
    }
    if (response.status === 503 && attempt < 3) { await pause(300 * attempt); continue; }
    const text = await response.text();
    let answer;
    try { answer = JSON.parse(text); } catch { throw new Refused(`${base.host} answered ${response.status}, and not in JSON`); }
    if (!response.ok) throw new Refused(`${response.status} ${answer?.error}: ${answer?.reason}`);
    return answer;
  }
}

function names(database, id) {
  if (!/^[a-z][a-z0-9_$()+-]{0,237}$/.test(database)) throw new Refused('A database has a name of a-z, 0-9, _, $, (, ), + and -, and begins with a letter.');
  if (id !== undefined && (!id || id.startsWith('_') || id === '.' || id === '..')) throw new Refused('An id is not empty and does not begin with _; design documents are not touched.');
  return id === undefined ? [database] : [database, id];
}

const text = { type: 'string' };
const database = { type: 'string', examples: ['recipes'] };
const tools = new Map();
const tool = (name, description, properties, required, annotations, run) => tools.set(name, { shown: { name, description, inputSchema: { type: 'object', properties, required }, annotations }, run });

tool('list_databases', 'Lists the databases of the CouchDB server.', {}, [], { readOnlyHint: true }, async () => {
  const all = await couch('GET', ['_all_dbs']);
  return Array.isArray(all) ? all.filter((n) => !String(n).startsWith('_')).join('\n') || 'None.' : 'The answer is not a list.';
});

tool('get_document', 'Reads a document by its id.', { database, id: text }, ['database', 'id'], { readOnlyHint: true },
  async (a) => JSON.stringify(await couch('GET', names(a.database, a.id)), null, 1));

tool('find_documents', 'Finds documents by a Mango selector, at most 50.', { database, selector: { type: 'object', examples: [{ kind: 'soup' }] } }, ['database', 'selector'], { readOnlyHint: true },
  async (a) => {
    const { docs = [], warning } = await couch('POST', [...names(a.database), '_find'], { body: { selector: a.selector, limit: 50 } });
    return `${JSON.stringify(docs, null, 1)}${warning ? `\n(${String(warning).split('\n')[0]})` : ''}`;
  });

tool('save_document', 'Saves a document under an id. To change one that exists, give its current rev; CouchDB refuses a stale one.', { database, id: text, fields: { type: 'object' }, rev: text }, ['database', 'id', 'fields'], { readOnlyHint: false, destructiveHint: true },
  async (a) => {
    const fields = Object.fromEntries(Object.entries(a.fields).filter(([key]) => !key.startsWith('_')));
    const { rev } = await couch('PUT', names(a.database, a.id), { body: fields, query: a.rev ? { rev: a.rev } : {} });
    return `Saved ${a.id}, now at ${rev}.`;
  });

const fits = (schema, value) => (schema.type === 'object' ? value !== null && typeof value === 'object' && !Array.isArray(value) : typeof value === schema.type); // eslint-disable-line valid-typeof

async function call(params) {
  const entry = tools.get(params.name);
  const say = (s, isError = false) => ({ content: [{ type: 'text', text: s }], isError });
  if (!entry) return say('No such tool.', true);
  const { properties, required } = entry.shown.inputSchema;
  const given = params.arguments ?? {};
  const wrong = Object.keys(properties).filter((key) => (given[key] === undefined ? required.includes(key) : !fits(properties[key], given[key])));
  if (wrong.length) return say(`Missing or of the wrong type: ${wrong.join(', ')}`, true);
  try { return say(await entry.run(given)); } catch (error) {
    if (!(error instanceof Refused)) process.stderr.write(`couchdb-docs: ${error.stack}\n`);
    return say(error.message, true);
  }
}

async function respond({ id, method, params }) {
  const p = params ?? {};
  const reply = { jsonrpc: '2.0', id };
  if (method === 'initialize') reply.result = { protocolVersion: p.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'couchdb-docs', version: '0.8.0' }, instructions: `Works on the CouchDB at ${base.host}.` };
  else if (method === 'ping') reply.result = {};
  else if (method === 'tools/list') reply.result = { tools: [...tools.values()].map((t) => t.shown) };
  else if (method === 'tools/call') reply.result = await call(p);
  else reply.error = { code: -32601, message: 'Method not found' };
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}

let buffer = '';
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (buffer + chunk).split('\n');
  buffer = lines.pop();
  for (const line of lines) {
    try {
      const message = JSON.parse(line);
      if (message?.id !== undefined && message.method) respond(message).catch((error) => process.stderr.write(`${error}\n`));
    } catch { /* not a message */ }
  }
}
