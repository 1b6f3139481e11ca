#!/usr/bin/env node
// Which program has which TCP port? Reads /proc, needs neither ss nor lsof.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { stdin, stdout } from 'node:process';

function listening() {
  const rows = [];
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    let text = '';
    try { text = readFileSync(table, 'latin1'); } catch { continue; }
    for (const line of text.split('\n').slice(1)) {
      const field = line.trim().split(/\s+/);
      if (field[3] === '0A') rows.push({ port: parseInt(field[1].split(':').pop(), 16), inode: field[9] });
    }
  }
  return rows;
}

function owner(inode) {
  for (const pid of readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    let descriptors = [];
    try { descriptors = readdirSync(`/proc/${pid}/fd`); } catch { continue; } // another user's
    for (const fd of descriptors) {
      try {
        if (readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`) return `${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()} (${pid})`;
      } catch { /* it was closed meanwhile */ }
    }
  }
  return 'a program of another user';
}

function who({ port }) {
  const row = listening().find((r) => r.port === port);
  return row ? `Port ${port} belongs to ${owner(row.inode)}.` : `Nothing listens on port ${port}.`;
}

const all = () => listening().map((r) => `${r.port}  ${owner(r.inode)}`).join('\n') || 'Nothing listens on this machine.';

const readOnly = { readOnlyHint: true, openWorldHint: false };
const tools = [
  { name: 'who_has_port', description: 'Says which program listens on a TCP port of this machine.', annotations: readOnly,
    inputSchema: { type: 'object', properties: { port: { type: 'integer', minimum: 1, maximum: 65535 } }, required: ['port'] } },
  { name: 'open_ports', description: 'Lists the TCP ports on which programs of this machine listen.', annotations: readOnly, inputSchema: { type: 'object', properties: {} } },
];

function respond(request) {
  const { method, params = {} } = request;
  if (method === 'initialize') return { result: { protocolVersion: params.protocolVersion ?? '2025-03-26', serverInfo: { name: 'port-owner', version: '0.5.0' }, capabilities: { tools: {} } } };
  if (method === 'ping') return { result: {} };
  if (method === 'tools/list') return { result: { tools } };
  if (method === 'tools/call' && params.name === 'open_ports') return { result: { content: [{ type: 'text', text: all() }] } };
  if (method === 'tools/call' && params.name === 'who_has_port') {
    const fine = Number.isInteger(params.arguments?.port);
    return { result: { content: [{ type: 'text', text: fine ? who(params.arguments) : 'port must be a whole number' }], isError: !fine } };
  }
  return { error: { code: -32601, message: 'no such method or tool' } };
}

let pending = '';
stdin.on('data', (chunk) => {
  pending += chunk;
  for (let at = pending.indexOf('\n'); at >= 0; at = pending.indexOf('\n')) {
    const line = pending.slice(0, at);
    pending = pending.slice(at + 1);
    let request = null;
    try { request = JSON.parse(line); } catch { /* no message */ }
    if (request?.method && request.id !== undefined) stdout.write(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...respond(request) }) + '\n');
  }
});
