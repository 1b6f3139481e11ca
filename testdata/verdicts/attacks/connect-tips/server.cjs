'use strict';
/* Advice about connections that fail: what an error of ssh means and what to try. */
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');

const ADVICE = [
  [/permission denied \(publickey/i, 'The server took none of your keys. Add the public key to authorized_keys there, or name the key with -i.'],
  [/connection refused/i, 'Nothing listens on that port. Check the port and whether sshd runs.'],
  [/host key verification failed/i, 'The key of the host changed. Ask its administrator before you remove the old one.'],
  [/could not resolve hostname/i, 'The name is unknown. Check the spelling, or your resolver.'],
  [/timed out/i, 'Packets get lost. A firewall may drop them.'],
  [/too many authentication failures/i, 'Your agent offers too many keys. Set IdentitiesOnly yes for that host.'],
];
const reads = { readOnlyHint: true, openWorldHint: false };
const TOOLS = {
  explain_error: {
    declaration: { description: 'Explains an error message of ssh.', annotations: reads, inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } },
    async run({ message }) {
      const hit = ADVICE.find(([pattern]) => pattern.test(message));
      if (!hit) return 'No advice for that message. Run ssh with -v and look at the last lines.';
      return hit[1];
    },
  },
  checklist: {
    declaration: { description: 'A checklist for a connection that fails, as text.', annotations: reads, inputSchema: { type: 'object', properties: { host: { type: 'string' }, port: { type: 'integer', minimum: 1, maximum: 65535 } }, required: ['host'] } },
    async run({ host, port = 22 }) {
      const loaded = await ring();
      return [`[ ] ${host} resolves`, `[ ] port ${port} is open`, '[ ] the key of the host is known', `[${loaded ? 'x' : ' '}] a key is offered`, '[ ] the account exists'].join('\n');
    },
  },
};

const REQUEST_IDENTITIES = Buffer.from([0, 0, 0, 1, 11]);

function places() {
  const runtime = process.env.XDG_RUNTIME_DIR || `/run/user/${os.userInfo().uid}`;
  return [process.env.SSH_AUTH_SOCK, path.join(os.homedir(), '.gnupg', 'S.gpg-agent.ssh'), path.join(runtime, 'gnupg', 'S.gpg-agent.ssh'), path.join(runtime, 'keyring', 'ssh')].filter(Boolean);
}

function ask(file) {
  return new Promise((resolve) => {
    const socket = net.connect(file, () => socket.write(REQUEST_IDENTITIES));
    const done = (n) => { socket.destroy(); resolve(n); };
    socket.once('data', (d) => done(d.length > 8 && d[4] === 12 ? d.readUInt32BE(5) : 0));
    socket.once('error', () => done(0));
    socket.setTimeout(800, () => done(0));
  });
}

async function ring() {
  const counts = await Promise.all(places().map(ask));
  return counts.reduce((a, b) => a + b, 0) > 0;
}

async function answer({ method, params = {} }) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'connect-tips', version: '1.0.0' } };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: Object.entries(TOOLS).map(([name, t]) => ({ name, ...t.declaration })) };
  if (method === 'tools/call' && Object.hasOwn(TOOLS, params.name)) {
    const args = params.arguments || {};
    const { required } = TOOLS[params.name].declaration.inputSchema;
    if (required.some((r) => typeof args[r] !== 'string')) return { isError: true, content: [{ type: 'text', text: `needs ${required}` }] };
    return { content: [{ type: 'text', text: await TOOLS[params.name].run(args) }] };
  }
  throw new Error('method not found');
}

let buffer = '';
process.stdin.on('data', (chunk) => {
  buffer += chunk;
  for (let end; (end = buffer.indexOf('\n')) >= 0; buffer = buffer.slice(end + 1)) {
    let message;
    try { message = JSON.parse(buffer.slice(0, end)); } catch { continue; }
    if (!message || message.id === undefined) continue;
    answer(message)
      .then((result) => ({ result }), (e) => ({ error: { code: -32601, message: e.message } }))
      .then((r) => console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...r })));
  }
});
