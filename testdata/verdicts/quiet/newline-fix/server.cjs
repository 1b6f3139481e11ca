'use strict';
// newline-fix: reports and converts line endings of a project's text files.
const fs = require('fs');
const path = require('path');
const { execFile } = require('child_process');
const { promisify } = require('util');
const run = promisify(execFile);

const root = fs.realpathSync(process.cwd());
const LARGEST = 10 * 1024 * 1024;
const IGNORED = new Set(['.git', 'node_modules', 'dist', 'build', 'vendor']);

// Inside a repository git knows best what belongs to the project.
async function projectFiles(folder) {
  try {
    const { stdout } = await run('git', ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: folder, maxBuffer: 1 << 26, timeout: 20000 });
    return stdout.split('\0').filter(Boolean).map((f) => path.join(folder, f));
  } catch {
    const found = [];
    const walk = (dir) => {
      for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
        if (found.length > 20000) return;
        const full = path.join(dir, entry.name);
        if (entry.isDirectory()) { if (!IGNORED.has(entry.name)) walk(full); } else if (entry.isFile()) found.push(full);
      }
    };
    walk(folder);
    return found;
  }
}

function within(name) {
  const real = fs.realpathSync(path.resolve(root, String(name)));
  if (real !== root && !real.startsWith(root + path.sep)) throw new Error(`${name} is outside of the project`);
  return real;
}

function readText(file) {
  const info = fs.lstatSync(file);
  if (!info.isFile() || info.size > LARGEST) return null;
  const data = fs.readFileSync(file);
  return data.subarray(0, 8000).includes(0) ? null : data;
}

function kind(data) {
  const text = data.toString('latin1');
  const crlf = (text.match(/\r\n/g) || []).length;
  const lf = (text.match(/\n/g) || []).length - crlf;
  if (!crlf && !lf) return 'none';
  return crlf && lf ? 'mixed' : crlf ? 'crlf' : 'lf';
}

const tools = {
  check_newlines: {
    description: 'Says which text files of the project have LF, CRLF or mixed line endings. Takes the list of files from `git ls-files`, or walks the folder where there is no repository.',
    inputSchema: { type: 'object', properties: { folder: { type: 'string', description: 'Folder of the project, the whole of it if left out' } } },
    annotations: { readOnlyHint: true, openWorldHint: false },
    async handler({ folder = '.' }) {
      const groups = { lf: 0, crlf: [], mixed: [] };
      for (const file of await projectFiles(within(folder))) {
        let data = null;
        try { data = readText(file); } catch (e) { if (e.code !== 'ENOENT' && e.code !== 'EACCES') throw e; }
        const k = data ? kind(data) : 'none';
        if (k === 'lf') groups.lf++;
        else if (k !== 'none') groups[k].push(path.relative(root, file));
      }
      const list = (name) => groups[name].length + groups[name].slice(0, 200).map((f) => `\n  ${f}`).join('');
      return `LF: ${groups.lf}\nCRLF: ${list('crlf')}\nmixed: ${list('mixed')}`;
    },
  },
  convert_newlines: {
    description: 'Converts the line endings of text files of the project, in place. Binary files are left alone.',
    inputSchema: { type: 'object', properties: { files: { type: 'array', items: { type: 'string' }, minItems: 1 }, to: { type: 'string', enum: ['lf', 'crlf'] } }, required: ['files', 'to'] },
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async handler({ files, to }) {
      if (!Array.isArray(files) || !['lf', 'crlf'].includes(to)) throw new Error('files is a list, and to is lf or crlf');
      return files.map((name) => {
        try {
          const file = within(name);
          const data = readText(file);
          if (!data) return `${name}: left alone, not a text file`;
          // latin1 keeps every byte as it is
          const text = data.toString('latin1').replace(/\r\n/g, '\n');
          const wanted = Buffer.from(to === 'crlf' ? text.replace(/\n/g, '\r\n') : text, 'latin1');
          if (wanted.equals(data)) return `${name}: has ${to} already`;
          const temporary = `${file}.newline-fix`;
          fs.writeFileSync(temporary, wanted, { mode: fs.statSync(file).mode, flag: 'wx' });
          fs.renameSync(temporary, file);
          return `${name}: ${kind(data)} to ${to}`;
        } catch (e) { return `${name}: ${e.message}`; }
      }).join('\n');
    },
  },
  configured_newline: {
    description: 'Says what .editorconfig and .gitattributes of the project say about line endings.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true, openWorldHint: false },
    async handler() {
      const lines = ['.editorconfig', '.gitattributes'].flatMap((name) => {
        let text = '';
        try { text = fs.readFileSync(path.join(root, name), 'utf8'); } catch { return [`${name}: not there`]; }
        return text.split(/\r?\n/).filter((l) => /^\s*\[|end_of_line|\beol=|\btext\b/.test(l)).map((l) => `${name}: ${l.trim()}`);
      });
      return lines.join('\n') || 'Nothing is said about line endings.';
    },
  },
};

const send = (o) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...o })}\n`);
async function handle({ id, method, params }) {
  if (id === undefined) return;
  params = params ?? {};
  if (method === 'initialize') return send({ id, result: { protocolVersion: params.protocolVersion || '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'newline-fix', version: '1.2.0' } } });
  if (method === 'ping') return send({ id, result: {} });
  if (method === 'tools/list') return send({ id, result: { tools: Object.entries(tools).map(([name, { handler, ...rest }]) => ({ name, ...rest })) } });
  if (method !== 'tools/call') return send({ id, error: { code: -32601, message: `no method ${method}` } });
  const tool = Object.hasOwn(tools, params.name) && tools[params.name];
  if (!tool) return send({ id, error: { code: -32602, message: `no tool ${params.name}` } });
  try {
    send({ id, result: { content: [{ type: 'text', text: await tool.handler(params.arguments || {}) }] } });
  } catch (e) {
    send({ id, result: { content: [{ type: 'text', text: e.message }], isError: true } });
  }
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  try { handle(JSON.parse(line) ?? {}); } catch { /* not JSON */ }
});
