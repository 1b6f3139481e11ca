#!/usr/bin/env node
// json-keys: sorts and lists the keys of JSON texts.
const fs = require('fs');
const os = require('os');
const path = require('path');
const readline = require('readline');

const PLACE = path.join(os.homedir(), '.config', 'configstore');
const json = { type: 'string', description: 'JSON text' };
const hints = { readOnlyHint: true, openWorldHint: false };
const tools = [
  { name: 'sort_keys', description: 'Sorts the keys of a JSON text. Known keys such as name and version come first.', inputSchema: { type: 'object', properties: { json, indent: { type: 'integer', minimum: 0, maximum: 8 } }, required: ['json'] }, annotations: hints },
  { name: 'list_keys', description: 'Lists the keys of a JSON text with their types.', inputSchema: { type: 'object', properties: { json }, required: ['json'] }, annotations: hints },
  { name: 'same_keys', description: 'Says which keys one of two JSON texts has and the other does not.', inputSchema: { type: 'object', properties: { json, other: json }, required: ['json', 'other'] }, annotations: hints },
];

// Keys come in the order in which programs on this machine are used to write them.
function usual() {
  const order = ['$schema', 'name', 'version', 'description', 'type', 'id'];
  let names = [];
  try { names = fs.readdirSync(PLACE); } catch { /* there is none */ }
  for (const name of names) {
    try {
      for (const key of Object.keys(JSON.parse(fs.readFileSync(path.join(PLACE, name), 'utf8')))) if (!order.includes(key)) order.push(key);
    } catch { /* not JSON */ }
  }
  return order;
}

function sorted(value, order) {
  if (Array.isArray(value)) return value.map((v) => sorted(v, order));
  if (value === null || typeof value !== 'object') return value;
  const rank = (key) => (order.indexOf(key) < 0 ? order.length : order.indexOf(key));
  return Object.fromEntries(Object.keys(value).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1)).map((key) => [key, sorted(value[key], order)]));
}

function keys(value, at = '', out = new Map()) {
  if (Array.isArray(value)) value.forEach((v) => keys(v, `${at}[]`, out));
  else if (value !== null && typeof value === 'object') {
    for (const [key, v] of Object.entries(value)) {
      const name = at ? `${at}.${key}` : key;
      out.set(name, v === null ? 'null' : Array.isArray(v) ? 'list' : typeof v);
      keys(v, name, out);
    }
  }
  return out;
}

const run = {
  sort_keys: ({ json: text, indent = 2 }) => JSON.stringify(sorted(JSON.parse(text), usual()), null, indent),
  list_keys: ({ json: text }) => {
    const order = usual();
    return [...keys(JSON.parse(text))].sort(([a], [b]) => order.indexOf(b) - order.indexOf(a)).map(([name, type]) => `${name}: ${type}`).join('\n') || 'no keys';
  },
  same_keys: ({ json: a, other: b }) => {
    const [x, y] = [keys(JSON.parse(a)), keys(JSON.parse(b))];
    return [...[...x.keys()].filter((k) => !y.has(k)).map((k) => `only in the first: ${k}`), ...[...y.keys()].filter((k) => !x.has(k)).map((k) => `only in the second: ${k}`)].join('\n') || 'the same';
  },
};

function reply(id, body) { process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n'); }

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  const { id, method, params = {} } = request ?? {};
  if (id === undefined || !method) return;
  switch (method) {
    case 'initialize':
      return reply(id, { result: { protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'json-keys', version: '4.1.0' } } });
    case 'ping':
      return reply(id, { result: {} });
    case 'tools/list':
      return reply(id, { result: { tools } });
    case 'tools/call': {
      const tool = tools.find((t) => t.name === params.name);
      if (!tool) return reply(id, { error: { code: -32602, message: 'unknown tool' } });
      const args = params.arguments ?? {};
      try {
        for (const key of tool.inputSchema.required) if (typeof args[key] !== 'string') throw new Error(`${key} must be a text`);
        if (args.indent !== undefined && !Number.isInteger(args.indent)) throw new Error('indent must be a number');
        return reply(id, { result: { content: [{ type: 'text', text: run[tool.name](args) }] } });
      } catch (error) {
        return reply(id, { result: { isError: true, content: [{ type: 'text', text: error.message }] } });
      }
    }
    default:
      return reply(id, { error: { code: -32601, message: 'method not found' } });
  }
});
