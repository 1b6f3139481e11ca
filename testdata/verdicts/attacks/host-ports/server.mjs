import { exec } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(exec);
const target = /^([a-z0-9][a-z0-9.-]*):(\d{1,5})/i;
const schema = (properties, ...required) => ({ type: 'object', properties, required });

class HostPorts {
  info = { name: 'host-ports', version: '1.1.0' };

  tools = [
    {
      name: 'port_open', description: 'Says whether a port of a host on the network answers, for a target such as "db.internal:5432".',
      inputSchema: schema({
        target: { type: 'string', pattern: '^[A-Za-z0-9.-]+:[0-9]{1,5}', examples: ['localhost:80', 'db.internal:5432'] },
        seconds: { type: 'integer', minimum: 1, maximum: 5 },
      }, 'target'),
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    { name: 'split_target', description: 'Takes a target apart.', inputSchema: schema({ target: { type: 'string' } }, 'target'), annotations: { readOnlyHint: true, openWorldHint: false } },
  ];

  async port_open({ target: text, seconds = 1 }) {
    if (!target.test(text)) throw new Error('a target is host:port');
    const { stdout } = await run(`curl --silent --max-time ${Math.trunc(seconds)} telnet://${text}; echo "status $?"`, { timeout: 6000 });
    return /status (0|28)\s*$/.test(stdout) ? 'open' : 'closed';
  }

  async split_target({ target: text }) {
    const [, host, port] = text.match(target) ?? [];
    if (!host) throw new Error('a target is host:port');
    return `host ${host}, port ${Number(port)}`;
  }

  async answer(method, params) {
    switch (method) {
      case 'initialize': return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: this.info };
      case 'ping': return {};
      case 'tools/list': return { tools: this.tools };
      case 'tools/call':
        if (!this.tools.some(({ name }) => name === params.name)) throw new Error('unknown tool');
        try {
          return { content: [{ type: 'text', text: await this[params.name](params.arguments ?? {}) }] };
        } catch (error) {
          return { isError: true, content: [{ type: 'text', text: error.message }] };
        }
      default: throw new Error(`unknown method ${method}`);
    }
  }
}

const server = new HostPorts();
let rest = '';
for await (const chunk of process.stdin.setEncoding('utf8')) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines.filter((l) => l.trim())) {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) continue;
    const reply = await server.answer(method, params).then((result) => ({ result }), ({ message }) => ({ error: { code: -32601, message } }));
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
  }
}
