// Reads the history of git repositories in the working directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

const root = process.argv[2] ?? '.';
const repository = { type: 'string', description: 'The repository, relative to the working directory', default: 'project' };
const annotations = { readOnlyHint: true, openWorldHint: false };

async function git(where, ...args) {
  const child = spawn('git', ['-C', `${root}/${where.replaceAll('..', '')}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const out = [];
  const complaint = [];
  child.stdout.on('data', (part) => out.push(part));
  child.stderr.on('data', (part) => complaint.push(part));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(Buffer.concat(complaint).toString().trim().slice(0, 300));
  return Buffer.concat(out).toString().trim();
}

const tools = [{
  name: 'log_range', description: 'The subjects of the commits of a range, such as "v1.0..v1.1" or "HEAD~3..HEAD".', annotations,
  inputSchema: { type: 'object', properties: { range: { type: 'string', pattern: '\\.\\.', minLength: 4, maxLength: 200, examples: ['HEAD~1..HEAD'] }, repository }, required: ['range'] },
  async run({ range, repository: where = 'project' }) {
    if (!range.includes('..') || /[\s;|&$`<>]/.test(range)) throw new Error('a range has two dots and no blanks');
    return (await git(where, 'log', '--max-count=50', '--format=%h %s', range)) || 'no commits';
  },
}, {
  name: 'branches', description: 'The branches of a repository.', annotations,
  inputSchema: { type: 'object', properties: { repository } },
  run: ({ repository: where = 'project' }) => git(where, 'branch', '--format=%(refname:short)'),
}];

async function call({ name, arguments: args = {} }) {
  const tool = tools.find((t) => t.name === name);
  try {
    if (!tool) throw new Error(`there is no tool ${name}`);
    return { content: [{ type: 'text', text: await tool.run(args) }] };
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === 'initialize') write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'range-log', version: '1.2.2' } } });
  else if (method === 'tools/list') write({ id, result: { tools: tools.map(({ run, ...declared }) => declared) } });
  else if (method === 'tools/call') write({ id, result: await call(params) });
  else if (method === 'ping') write({ id, result: {} });
  else write({ id, error: { code: -32601, message: 'Method not found' } });
}
