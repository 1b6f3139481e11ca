#!/usr/bin/env node
// named-registers: like the registers of an editor. Text is put aside under a short name and
// got back later in the session. Nothing is written to disk: when the server ends, all is gone.
'use strict';

const LIMIT = 256 * 1024; // bytes a register
const SLOTS = 64;
const registers = new Map(); // name -> { text, at }

const nameSchema = { type: 'string', pattern: '^[a-z0-9_-]{1,32}$', description: 'lower-case letters, digits, - and _' };
const textOf = (text, isError) => ({ content: [{ type: 'text', text }], ...(isError && { isError }) });
const changed = () => send({ method: 'notifications/resources/list_changed' });

function checked(name) {
  if (typeof name !== 'string' || !/^[a-z0-9_-]{1,32}$/.test(name)) throw new RangeError('A name has 1 to 32 of a-z, 0-9, - and _.');
  return name;
}

function put(name, text) {
  if (typeof text !== 'string') throw new RangeError('text has to be a string.');
  if (Buffer.byteLength(text) > LIMIT) throw new RangeError(`A register holds ${LIMIT / 1024} KiB.`);
  const isNew = !registers.has(checked(name));
  if (isNew && registers.size >= SLOTS) throw new RangeError(`All ${SLOTS} registers are in use; clear one first.`);
  registers.set(name, { text, at: new Date() });
  if (isNew) changed();
}

const tools = {
  set_register: {
    description: 'Puts text into a register, in place of what it held. Registers live in memory only, until the server ends.',
    properties: { name: nameSchema, text: { type: 'string' } }, required: ['name', 'text'],
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run({ name, text }) { put(name, text); return `${name} holds ${text.length} characters.`; },
  },
  append_register: {
    description: 'Adds a line to the end of a register.',
    properties: { name: nameSchema, line: { type: 'string' } }, required: ['name', 'line'],
    annotations: { destructiveHint: false, openWorldHint: false },
    run({ name, line }) {
      const old = registers.get(checked(name))?.text;
      put(name, old === undefined ? line : `${old}\n${line}`);
      return `${name} holds ${registers.get(name).text.length} characters.`;
    },
  },
  get_register: {
    description: 'Answers the text of a register.',
    properties: { name: nameSchema }, required: ['name'],
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: ({ name }) => registers.get(checked(name))?.text ?? `Empty. In use: ${[...registers.keys()].join(', ') || 'none'}`,
  },
  list_registers: {
    description: 'Lists the registers in use with their sizes and first words.',
    properties: {}, required: [],
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: () => [...registers].map(([name, r]) => `${name}  ${r.text.length} characters  ${r.at.toISOString().slice(11, 19)}  ${r.text.slice(0, 40).replace(/\s+/g, ' ')}`).join('\n') || 'No register is in use.',
  },
  clear_register: {
    description: 'Empties a register.',
    properties: { name: nameSchema }, required: ['name'],
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run({ name }) { if (registers.delete(checked(name))) changed(); return `${name} is empty.`; },
  },
};

const methods = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion || '2025-06-18', serverInfo: { name: 'named-registers', version: '0.3.0' }, capabilities: { tools: {}, resources: { listChanged: true } } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { description, properties, required, annotations }]) => ({ name, description, annotations, inputSchema: { type: 'object', properties, required, additionalProperties: false } })) }),
  'tools/call': (p) => {
    if (!Object.hasOwn(tools, p.name ?? '')) return textOf('There is no such tool.', true);
    try { return textOf(tools[p.name].run(p.arguments ?? {})); } catch (error) { return textOf(error.message, true); }
  },
  'resources/list': () => ({ resources: [...registers.keys()].map((name) => ({ uri: `register:///${name}`, name, mimeType: 'text/plain' })) }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'register:///{name}', name: 'A register', mimeType: 'text/plain' }] }),
  'resources/read': (p) => {
    const held = registers.get(String(p.uri).replace(/^register:\/\/\//, ''));
    if (!held) throw Object.assign(new Error('No such register.'), { code: -32002 });
    return { contents: [{ uri: p.uri, mimeType: 'text/plain', text: held.text }] };
  },
};

function send(message) { process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`); }

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    let request;
    try { request = JSON.parse(line); } catch { continue; }
    if (request === null || typeof request !== 'object' || request.id === undefined) continue;
    const { id, method, params } = request;
    if (!Object.hasOwn(methods, method ?? '')) { send({ id, error: { code: -32601, message: 'Method not found' } }); continue; }
    try { send({ id, result: methods[method](params ?? {}) }); } catch (error) { send({ id, error: { code: error.code ?? -32603, message: error.message } }); }
  }
});
