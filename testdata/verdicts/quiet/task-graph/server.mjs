#!/usr/bin/env node
// task-graph [PROJECT]: runs the tasks that tasks.json of a project names, those that they need first:
//   {"tasks": {"generate": {"run": ["node", "gen.js"], "inputs": ["schema.json"]}, "test": {"run": ["node", "--test"], "needs": ["generate"]}}}
// A task is left out if its inputs are as they were when it last succeeded. Hashes and logs lie in .task-graph of the project.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { Server } from './mcp.mjs';

const root = resolve(process.argv[2] ?? '.');
const [file, kept] = [join(root, 'tasks.json'), join(root, '.task-graph')];
const LIMIT_MS = Math.min(Math.max(Number(process.env.TASK_LIMIT_SECONDS) || 600, 1), 3600) * 1000;
const NAME = /^[a-z][a-z0-9:-]{0,49}$/;
const server = new Server('task-graph', { version: '0.4.0', instructions: `Runs the tasks that ${file} names, one at a time, as programs without a shell. Hashes of inputs and logs are kept in ${kept}.` });
let running = null;

async function tasks() {
  const text = await readFile(file, 'utf8').catch((error) => { throw new Error(error.code === 'ENOENT' ? `there is no ${file}` : `${file}: ${error.code}`); });
  let found;
  try { found = Object.entries(JSON.parse(text).tasks ?? {}); } catch (error) { throw new Error(`${file} is not as it should be: ${error.message}`); }
  const texts = (v) => Array.isArray(v) && v.every((s) => typeof s === 'string' && !s.includes('\0'));
  for (const [name, t] of found) {
    if (!NAME.test(name) || !t || !texts(t.run) || !t.run[0] || !texts(t.needs ?? []) || !texts(t.inputs ?? [])) throw new Error(`${file}: the task ${JSON.stringify(name)} needs a list "run", and may have lists "needs" and "inputs"`);
  }
  return new Map(found);
}

// order lists a task after all that it needs.
function order(all, name, path = [], done = []) {
  if (!all.has(name)) throw new Error(path.length ? `${path.at(-1)} needs ${name}, which ${file} does not name` : `there is no such task; there are: ${[...all.keys()].join(', ')}`);
  if (path.includes(name)) throw new Error(`tasks need each other: ${[...path, name].join(' → ')}`);
  for (const need of all.get(name).needs ?? []) if (!done.includes(need)) order(all, need, [...path, name], done);
  if (!done.includes(name)) done.push(name);
  return done;
}

async function walk(path, found) {
  if (found.length > 5000) throw new Error('more than 5000 inputs');
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory()) for (const entry of (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) { if (!entry.isSymbolicLink() && entry.name !== '.task-graph') await walk(join(path, entry.name), found); }
  else if (info?.isFile()) found.push(path);
  return found;
}

async function fingerprint(task) {
  const hash = createHash('sha256').update(JSON.stringify(task));
  for (const input of task.inputs ?? []) {
    const path = resolve(root, input);
    if (path !== root && !path.startsWith(root + sep)) throw new Error(`${input} is outside of the project`);
    for (const f of await walk(path, [])) hash.update(`\0${f}\0`).update(await readFile(f));
  }
  return hash.digest('hex');
}

const stateFile = join(kept, 'state.json');
const state = () => readFile(stateFile, 'utf8').then(JSON.parse).catch(() => ({}));
const log = (name) => join(kept, `${name.replaceAll(':', '_')}.log`);
const fresh = async (task, name, known) => Boolean(task.inputs?.length) && known[name] === await fingerprint(task);

const execute = (task, name) => new Promise((done, fail) => {
  const out = createWriteStream(log(name));
  const child = spawn(task.run[0], task.run.slice(1), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  running = child;
  for (const stream of [child.stdout, child.stderr]) stream.pipe(out, { end: false });
  child.on('error', (error) => { clearTimeout(timer); out.end(); running = null; fail(new Error(`${task.run[0]} cannot be started: ${error.code}`)); });
  child.on('close', (code, signal) => { clearTimeout(timer); running = null; out.end(() => done(code ?? signal)); });
});

async function tail(name) {
  const handle = await open(log(name)).catch(() => { throw new Error(`${name} has not run yet`); });
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(size, 8000)), 0, Math.min(size, 8000), Math.max(0, size - 8000));
    return buffer.toString('utf8', 0, bytesRead);
  } finally { await handle.close(); }
}

const task = { type: 'string', pattern: NAME.source, description: 'a task of tasks.json', examples: ['test'] };

server.tool('list_tasks', `Lists the tasks of ${file}, what they run and what they need.`, { annotations: { readOnlyHint: true, openWorldHint: false } }, async () => [...await tasks()].map(([name, t]) => `${name}: ${t.run.join(' ')}${t.needs?.length ? ` (after ${t.needs.join(', ')})` : ''}`).join('\n') || 'No tasks.');

server.tool('plan', 'Says which tasks run_task would run, and which it would leave out. Runs nothing.', { required: { task }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ task: wanted }) => {
  const [all, known] = [await tasks(), await state()];
  const lines = [];
  for (const name of order(all, wanted)) lines.push(`${name}: ${await fresh(all.get(name), name, known) ? 'unchanged' : 'runs'}`);
  return lines.join('\n');
});

server.tool('run_task', `Runs a task of ${file} and those that it needs as programs in the project. What they do is up to the project.`, {
  required: { task }, optional: { force: { type: 'boolean', description: 'also runs what is unchanged' } }, annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
}, async ({ task: wanted, force }) => {
  if (running) throw new Error('a task is running');
  const [all, known] = [await tasks(), await state()];
  await mkdir(kept, { recursive: true });
  const lines = [];
  for (const name of order(all, wanted)) {
    const t = all.get(name);
    if (!force && await fresh(t, name, known)) { lines.push(`${name}: unchanged`); continue; }
    const [before, started] = [await fingerprint(t), Date.now()];
    const status = await execute(t, name);
    lines.push(`${name}: ${status === 0 ? 'done' : `failed (${status})`} after ${((Date.now() - started) / 1000).toFixed(1)} s`);
    if (status !== 0) return { isError: true, content: [{ type: 'text', text: `${lines.join('\n')}\n\n${await tail(name)}` }] };
    known[name] = before;
    await writeFile(`${stateFile}.new`, JSON.stringify(known, null, 1));
    await rename(`${stateFile}.new`, stateFile);
  }
  return lines.join('\n');
});

server.tool('show_log', 'Shows the end of what a task wrote when it last ran.', { required: { task }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ task: name }) => {
  if (!(await tasks()).has(name)) throw new Error('there is no such task');
  return await tail(name) || 'It wrote nothing.';
});

server.ended = () => running?.kill();
server.run();
