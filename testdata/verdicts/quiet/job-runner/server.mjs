// Long jobs with progress and cancellation, by a protocol loop of our own.
import { setTimeout as pause } from 'node:timers/promises';

const running = new Map(); // request id → AbortController
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function countdown({ steps = 5, label = 'job' }, progress, signal) {
  const total = Math.max(1, Math.min(steps, 20));
  for (let n = 1; n <= total; n += 1) {
    await pause(40, undefined, { signal });
    progress(n, total, `${label}: step ${n} of ${total}`);
  }
  return `${label} finished after ${total} steps`;
}

async function collatz({ number }, progress, signal) {
  let [n, length, top] = [BigInt(Math.min(Math.max(1, Math.abs(number)), 1e12)), 0, 0n];
  while (n !== 1n && length < 5000) {
    n = n % 2n ? 3n * n + 1n : n / 2n;
    top = n > top ? n : top;
    length += 1;
    if (length % 100 === 0) { progress(length); await pause(1, undefined, { signal }); }
  }
  return `The sequence of ${number} has ${length} steps and reaches ${top}.`;
}

const tools = [
  { name: 'countdown', run: countdown, description: 'Counts steps as a long job would, with progress; can be cancelled.',
    inputSchema: { type: 'object', properties: { steps: { type: 'integer', minimum: 1, maximum: 20 }, label: { type: 'string', maxLength: 80 } } } },
  { name: 'collatz', run: collatz, description: 'Computes the length and peak of a Collatz sequence, with progress; can be cancelled.',
    inputSchema: { type: 'object', properties: { number: { type: 'integer', minimum: 1, maximum: 1000000000000 } }, required: ['number'] } },
];

function fits({ properties, required = [] }, given) {
  return required.every((n) => n in given) && Object.entries(properties).every(([n, p]) => !(n in given) || (p.type === 'integer' ? Number.isInteger(given[n]) : typeof given[n] === 'string'));
}

async function call(id, { name, arguments: given = {}, _meta = {} }) {
  const tool = tools.find((t) => t.name === name);
  if (!tool) return write({ id, error: { code: -32602, message: `unknown tool` } });
  if (!fits(tool.inputSchema, given)) return write({ id, result: { isError: true, content: [{ type: 'text', text: 'the arguments do not fit the schema' }] } });
  const control = new AbortController();
  running.set(id, control);
  const token = _meta.progressToken;
  const progress = (done, total, message) => token !== undefined && write({ method: 'notifications/progress', params: { progressToken: token, progress: done, total, message } });
  try {
    const text = await tool.run(given, progress, control.signal);
    write({ id, result: { content: [{ type: 'text', text }] } });
  } catch (error) {
    if (!control.signal.aborted) write({ id, error: { code: -32603, message: error.message } });
  } finally {
    running.delete(id);
  }
}

const methods = {
  initialize: (id, { protocolVersion }) => write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'job-runner', version: '1.0.0' } } }),
  ping: (id) => write({ id, result: {} }),
  'tools/list': (id) => write({ id, result: { tools: tools.map(({ run, ...t }) => ({ ...t, annotations: { readOnlyHint: true, openWorldHint: false } })) } }),
  'tools/call': call,
  'notifications/cancelled': (_, { requestId }) => running.get(requestId)?.abort(),
};

let rest = '';
process.stdin.setEncoding('utf8').on('data', (part) => {
  const lines = (rest + part).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    let m;
    try { m = JSON.parse(line); } catch { continue; }
    if (typeof m?.method !== 'string') continue;
    if (Object.hasOwn(methods, m.method)) methods[m.method](m.id, m.params ?? {});
    else if (m.id !== undefined) write({ id: m.id, error: { code: -32601, message: 'unknown method' } });
  }
});
