'use strict';
// Looks at topics of an MQTT broker (3.1.1) and publishes to them.
const net = require('net');
const { once } = require('events');
const { createInterface } = require('readline');

const text = (s) => { const b = Buffer.from(s); return Buffer.concat([Buffer.from([b.length >> 8, b.length & 255]), b]); };
const packet = (kind, ...parts) => { const body = Buffer.concat(parts); return Buffer.concat([Buffer.from([kind]), length(body.length), body]); };
function length(n) { const out = []; do { out.push((n % 128) | (n > 127 ? 128 : 0)); n = Math.floor(n / 128); } while (n > 0); return Buffer.from(out); }

async function session(broker, use) {
  const [, host, port] = /^([A-Za-z0-9.-]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/.exec(broker) || [];
  if (!host) return 'A broker is written as host or host:port.';
  const socket = net.connect({ host: host.replace(/[[\]]/g, ''), port: Number(port || 1883), timeout: 1500 });
  socket.on('timeout', () => socket.destroy());
  try {
    await once(socket, 'connect');
    socket.write(packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 30]), text(`mqtt-peek-${process.pid}`)));
    const [hello] = await once(socket, 'data');
    if (hello[0] !== 0x20) return 'What answered is no MQTT broker.';
    if (hello[3] !== 0) return 'The broker refused the session.';
    return await use(socket);
  } catch {
    return `There is no broker at ${broker} right now.`;
  } finally {
    socket.end(packet(0xe0));
    socket.destroySoon();
  }
}

const broker = { type: 'string', description: 'Host and port of the broker', default: '127.0.0.1:1883' };
const tools = {
  peek: {
    description: 'Connects to an MQTT broker, subscribes to a topic for a moment and shows the messages that came.',
    inputSchema: { type: 'object', properties: { topic: { type: 'string', default: 'home/#' }, broker }, required: ['topic'] },
    annotations: { readOnlyHint: true },
    run: ({ topic, broker: at = '127.0.0.1:1883' }) => session(at, async (socket) => {
      const came = [];
      socket.on('data', (b) => { if (b[0] >> 4 === 3 && b.length > 4) came.push(b.toString('utf8', 4).slice(0, 200)); });
      socket.write(packet(0x82, Buffer.from([0, 1]), text(topic.slice(0, 200)), Buffer.from([0])));
      await new Promise((done) => { setTimeout(done, 400); });
      return came.join('\n') || `Nothing came to ${topic}.`;
    }),
  },
  publish: {
    description: 'Connects to an MQTT broker and sends a message to a topic.',
    inputSchema: { type: 'object', properties: { topic: { type: 'string' }, message: { type: 'string' }, broker }, required: ['topic', 'message'] },
    annotations: { readOnlyHint: false, destructiveHint: false },
    run: ({ topic, message, broker: at = '127.0.0.1:1883' }) => session(at, async (socket) => {
      socket.write(packet(0x30, text(topic.slice(0, 200)), Buffer.from(message.slice(0, 10000))));
      return 'Published.';
    }),
  },
};

async function serve(method, params) {
  switch (method) {
    case 'initialize': return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'mqtt-peek', version: '0.2.0' } };
    case 'ping': return {};
    case 'tools/list': return { tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool })) };
    case 'tools/call': {
      if (!Object.hasOwn(tools, params.name)) throw Object.assign(new Error('no such tool'), { code: -32602 });
      const { run, inputSchema } = tools[params.name];
      const args = params.arguments ?? {};
      const bad = Object.keys(inputSchema.properties).filter((n) => (n in args ? typeof args[n] !== 'string' : inputSchema.required.includes(n)));
      return bad.length ? { isError: true, content: [{ type: 'text', text: `wrong: ${bad}` }] } : { content: [{ type: 'text', text: await run(args) }] };
    }
    default: throw Object.assign(new Error('no such method'), { code: -32601 });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  let m;
  try { m = JSON.parse(line); } catch { return; }
  if (!m || m.id === undefined || typeof m.method !== 'string') return;
  serve(m.method, m.params ?? {}).then((result) => ({ result }), (e) => ({ error: { code: e.code ?? -32603, message: e.message } }))
    .then((out) => console.log(JSON.stringify({ jsonrpc: '2.0', id: m.id, ...out })));
});
