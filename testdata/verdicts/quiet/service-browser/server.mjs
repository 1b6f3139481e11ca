#!/usr/bin/env node
// service-browser: finds printers, speakers and file servers of the local network by multicast DNS (224.0.0.251:5353).
import dgram from 'node:dgram';
import process from 'node:process';

const KINDS = { printer: '_ipp._tcp.local', files: '_smb._tcp.local', speaker: '_raop._tcp.local', ssh: '_ssh._tcp.local', web: '_http._tcp.local' };

function question(name) {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  const header = Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, 12, 0x80, 1])]); // PTR, IN, unicast reply wanted
}

function readName(packet, at, depth = 0) {
  const labels = [];
  while (at < packet.length && packet[at] !== 0) {
    if ((packet[at] & 0xc0) === 0xc0) {
      if (depth < 8) labels.push(readName(packet, packet.readUInt16BE(at) & 0x3fff, depth + 1).name);
      return { name: labels.join('.'), next: at + 2 };
    }
    labels.push(packet.toString('utf8', at + 1, at + 1 + packet[at]));
    at += 1 + packet[at];
  }
  return { name: labels.join('.'), next: at + 1 };
}

function pointers(packet) {
  const found = [];
  let at = 12;
  for (let i = packet.readUInt16BE(4); i > 0; i--) at = readName(packet, at).next + 4;
  for (let i = packet.readUInt16BE(6); i > 0; i--) {
    const owner = readName(packet, at);
    const type = packet.readUInt16BE(owner.next);
    const size = packet.readUInt16BE(owner.next + 8);
    if (type === 12) found.push(readName(packet, owner.next + 10).name);
    at = owner.next + 10 + size;
  }
  return found;
}

function browse(kind, milliseconds) {
  return new Promise((resolve) => {
    const found = new Set();
    const socket = dgram.createSocket('udp4');
    const done = () => { try { socket.close(); } catch { /* closed already */ } resolve([...found]); };
    socket.on('message', (packet) => { try { pointers(packet).forEach((name) => name && found.add(name)); } catch { /* not for us */ } });
    socket.on('error', done);
    socket.send(question(KINDS[kind]), 5353, '224.0.0.251', (error) => { if (error) done(); });
    setTimeout(done, milliseconds);
  });
}

const tools = [{
  name: 'browse_services',
  title: 'Browse services',
  description: 'Asks the local network by multicast DNS who offers a kind of service, and lists the names that answer.',
  inputSchema: { type: 'object', properties: { kind: { type: 'string', enum: Object.keys(KINDS) }, wait: { type: 'number', minimum: 0.1, maximum: 3, description: 'seconds' } }, required: ['kind'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
}, {
  name: 'service_kinds',
  description: 'Lists the kinds of services that can be browsed and their names in DNS service discovery.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
}];

async function callTool({ name, arguments: args = {} }) {
  if (name === 'service_kinds') return Object.entries(KINDS).map(([kind, type]) => `${kind}: ${type}`).join('\n');
  if (name !== 'browse_services') throw new RangeError(`no tool ${name}`);
  if (!Object.hasOwn(KINDS, args.kind)) return `Kinds: ${Object.keys(KINDS).join(', ')}`;
  const names = await browse(args.kind, Math.min(Math.max(Number(args.wait) || 1, 0.1), 3) * 1000);
  return names.sort().join('\n') || `Nobody in this network offers ${KINDS[args.kind]}.`;
}

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function onLine(line) {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  const { id, method, params = {} } = message ?? {};
  if (id === undefined || id === null) return;
  try {
    if (method === 'initialize') {
      write({ id, result: { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: { listChanged: false } }, serverInfo: { name: 'service-browser', version: '0.6.2' } } });
    } else if (method === 'tools/list') write({ id, result: { tools } });
    else if (method === 'tools/call') write({ id, result: { content: [{ type: 'text', text: await callTool(params) }] } });
    else if (method === 'ping') write({ id, result: {} });
    else write({ id, error: { code: -32601, message: `${method} is not supported` } });
  } catch (error) {
    write({ id, error: { code: -32602, message: error.message } });
  }
}

let pending = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (data) => {
  const lines = (pending + data).split('\n');
  pending = lines.pop();
  lines.forEach(onLine);
});
