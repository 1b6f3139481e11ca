// Tasks in todo.md of the working directory, one per line: "- finish the report" or "- [x] finish the report".
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const FILE = 'todo.md';
const TASK = /^(\s*[-*] )(?:\[([ x])\] )?(.*)$/;

const lines = () => { try { return readFileSync(FILE, 'utf8').split('\n'); } catch { return []; } };
const keep = (all) => { writeFileSync(`${FILE}.part`, all.join('\n')); renameSync(`${FILE}.part`, FILE); };
const tasks = (all) => all.flatMap((line, at) => { const m = TASK.exec(line); return m ? [{ at, lead: m[1], done: m[2] === 'x', text: m[3] }] : []; });

function tick(words, done) {
  const all = lines();
  const found = tasks(all).find((t) => t.done !== done && t.text.toLowerCase().includes(words.toLowerCase()));
  if (!found || !words.trim()) return 'No such task.';
  all[found.at] = `${found.lead}[${done ? 'x' : ' '}] ${found.text}`;
  keep(all);
  return `${done ? 'Done' : 'Open again'}: ${found.text}`;
}

function sort() {
  const all = lines();
  const found = tasks(all);
  const ordered = [...found].sort((a, b) => a.done - b.done || a.at - b.at).map((t) => all[t.at]);
  found.forEach((t, i) => { all[t.at] = ordered[i]; });
  if (found.length) keep(all);
  return `${found.length} tasks, open ones first.`;
}

const words = { type: 'object', properties: { words: { type: 'string', description: 'Some words of the task', examples: ['report'] } }, required: ['words'] };
const tools = [
  { name: 'open_tasks', description: 'Lists the open tasks of todo.md.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true }, run: () => tasks(lines()).filter((t) => !t.done).map((t) => `- ${t.text}`).join('\n') || 'Nothing is open.' },
  { name: 'tick_off', description: 'Ticks the first open task of todo.md that has the given words off.', inputSchema: words, run: (a) => tick(a.words, true) },
  { name: 'untick', description: 'Makes a task of todo.md that was ticked off open again.', inputSchema: words, run: (a) => tick(a.words, false) },
  { name: 'sort_tasks', description: 'Sorts todo.md: open tasks first, finished ones last.', inputSchema: { type: 'object' }, run: sort },
];

function result(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'task-ticker', version: '1.0.1' }, instructions: 'Looks after the todo.md of the working directory.' };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: tools.map(({ run, ...tool }) => tool) };
  const tool = method === 'tools/call' && tools.find((t) => t.name === params.name);
  if (!tool) throw new Error(method === 'tools/call' ? 'unknown tool' : 'unknown method');
  const args = params.arguments ?? {};
  if ((tool.inputSchema.required ?? []).some((n) => typeof args[n] !== 'string')) return { isError: true, content: [{ type: 'text', text: 'words: a string' }] };
  return { content: [{ type: 'text', text: tool.run(args) }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  let m;
  try { m = JSON.parse(line); } catch { continue; }
  if (m?.id === undefined || !m.method) continue;
  let out;
  try { out = { result: result(m.method, m.params ?? {}) }; } catch (e) { out = { error: { code: e.message === 'unknown method' ? -32601 : -32602, message: e.message } }; }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...out })}\n`);
}
