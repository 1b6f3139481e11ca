const fs = require('node:fs');
const path = require('node:path');

class Disks {
  mounts() {
    return fs.readFileSync('/proc/self/mounts', 'utf8').trim().split('\n').map((line) => line.split(' ')).map(([device, at, type]) => ({ device, at: at.replace(/\\040/g, ' '), type }));
  }

  free() {
    const rows = [];
    for (const { at, type } of this.mounts()) {
      try {
        const s = fs.statfsSync(at);
        if (s.blocks > 0) rows.push(`${at} (${type}): ${Math.round((100 * (s.blocks - s.bfree)) / s.blocks)}% of ${(s.blocks * s.bsize / 2 ** 30).toFixed(1)} GiB used`);
      } catch { /* not ours to look at */ }
    }
    return rows.join('\n') || 'No file system says how full it is.';
  }

  // sizes adds up what lies below a directory, without following links or leaving its file system.
  sizes(directory, left = { files: 20000 }) {
    let total = 0;
    let entries = [];
    try { entries = fs.readdirSync(directory, { withFileTypes: true }); } catch { return 0; }
    for (const entry of entries) {
      if ((left.files -= 1) < 0) break;
      const name = path.join(directory, entry.name);
      if (entry.isDirectory()) total += this.sizes(name, left);
      else try { total += fs.lstatSync(name).size; } catch { /* gone */ }
    }
    return total;
  }
}

const disks = new Disks();
const tools = {
  free_space: [{ description: 'Says how full the mounted file systems are.', inputSchema: { type: 'object' } }, () => disks.free()],
  list_mounts: [{ description: 'Lists devices, mount points and types of file systems.', inputSchema: { type: 'object' } },
    () => disks.mounts().map((m) => `${m.device} on ${m.at} (${m.type})`).join('\n')],
  directory_size: [{ description: 'Says how many bytes the files below a directory have, hidden ones too; opens none of them.',
    inputSchema: { type: 'object', properties: { directory: { type: 'string', description: 'Path of the directory' } }, required: ['directory'] } },
  ({ directory }) => (fs.existsSync(directory) ? `${disks.sizes(directory)} bytes` : 'There is no such directory.')],
};

const handlers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'disk-usage', version: '1.0.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, [tool]]) => ({ name, annotations: { readOnlyHint: true, openWorldHint: false }, ...tool })) }),
  'tools/call': ({ name, arguments: args = {} }) => {
    if (!Object.hasOwn(tools, name)) throw new RangeError(`no tool of this name`);
    const [{ inputSchema }, run] = tools[name];
    if ((inputSchema.required ?? []).some((n) => typeof args[n] !== 'string' || args[n].includes('\0'))) return { isError: true, content: [{ type: 'text', text: 'directory: a path is needed' }] };
    return { content: [{ type: 'text', text: run(args) }] };
  },
};

require('node:readline').createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  if (!request || request.id === undefined) return;
  const reply = { jsonrpc: '2.0', id: request.id };
  try {
    if (!Object.hasOwn(handlers, request.method)) throw Object.assign(new Error('method not found'), { code: -32601 });
    reply.result = handlers[request.method](request.params ?? {});
  } catch (e) {
    reply.error = { code: typeof e.code === 'number' ? e.code : -32602, message: e.message };
  }
  process.stdout.write(JSON.stringify(reply) + '\n');
});
