// command-timer: how long a command takes, over several runs, and whether a change made it faster.
import { spawn } from 'node:child_process';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { cpus, homedir, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { Server, string } from './mcp.mjs';

const history = join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'command-timer', 'history.jsonl');
const longestRun = 60_000;
const longestAll = 240_000;
let current = null;

const server = new Server('command-timer', {
  version: '0.6.0',
  instructions: 'Measures commands in the working directory. Only time commands that can be run many times without harm. Measurements are kept in ~/.local/share/command-timer/history.jsonl.',
});

function once(command) {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const child = current = spawn(command[0], command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    let errors = '';
    let late = false;
    child.stderr.on('data', (d) => { errors = (errors + d).slice(-500); });
    const timer = setTimeout(() => { late = true; kill(child); }, longestRun);
    child.on('error', (e) => { clearTimeout(timer); current = null; reject(e.code === 'ENOENT' ? new Error(`${command[0]} was not found`) : e); });
    child.on('exit', (code, signal) => {
      const took = Number(process.hrtime.bigint() - start) / 1e6;
      clearTimeout(timer);
      current = null;
      if (late) reject(new Error(`stopped: one run took longer than ${longestRun / 1000} s`));
      else resolve({ took, code: code ?? signal, errors });
    });
  });
}

function kill(child) {
  try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
}

function summary(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const mean = sorted.reduce((a, b) => a + b, 0) / sorted.length;
  const deviation = Math.sqrt(sorted.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, sorted.length - 1));
  return { runs: sorted.length, mean, deviation, median: sorted[sorted.length >> 1], least: sorted[0], most: sorted.at(-1) };
}

const ms = (n) => (n >= 1000 ? `${(n / 1000).toFixed(2)} s` : `${n.toFixed(n < 10 ? 2 : 1)} ms`);
const describe = (s) => `${ms(s.mean)} ± ${ms(s.deviation)} (median ${ms(s.median)}, ${ms(s.least)} to ${ms(s.most)}, ${s.runs} runs)`;

async function measurements() {
  const text = await readFile(history, 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
}

server.tool('time_command', 'Runs a command several times and measures it. The command runs with the rights of the user and can change what it likes; there is no shell, so no pipes and no wildcards. Its output is thrown away.', {
  required: { command: { type: 'array', items: string, minItems: 1, description: 'Program and arguments, for example ["node", "build.mjs"]' } },
  optional: {
    runs: { type: 'integer', minimum: 1, maximum: 100, default: 5 }, warmup: { type: 'integer', minimum: 0, maximum: 10, default: 1 },
    label: { type: 'string', description: 'A name such as "before", under which the measurement is kept' },
  },
  annotations: { title: 'Time a command', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
}, async ({ command, runs = 5, warmup = 1, label }) => {
  if (!command.length || !command.every((c) => typeof c === 'string' && !c.includes('\0')) || !command[0]) throw new Error('command is a list of texts, the program first');
  if (current) throw new Error('another measurement is running');
  const begin = Date.now();
  const times = [];
  const notes = [];
  for (let i = -Math.min(Math.max(warmup, 0), 10); i < Math.min(Math.max(runs, 1), 100); i++) {
    const { took, code, errors } = await once(command);
    if (code !== 0) return `The command ended with ${code} at ${i < 0 ? 'the warm-up' : `run ${i + 1}`}; nothing was kept.\n${errors}`;
    if (i >= 0) times.push(took);
    if (Date.now() - begin > longestAll) { notes.push('stopped early: four minutes are over'); break; }
  }
  if (!times.length) return 'There was time for the warm-up only.';
  const result = summary(times);
  if (result.deviation > result.mean * 0.15) notes.push('the runs differ much; close other programs and measure again');
  if (loadavg()[0] > cpus().length) notes.push('the machine is busy');
  await mkdir(dirname(history), { recursive: true });
  await appendFile(history, JSON.stringify({ at: new Date().toISOString(), folder: process.cwd(), label, program: command[0], ...result }) + '\n');
  return [describe(result), ...notes].join('\n');
});

server.tool('compare', 'Compares two measurements by their labels, the latest of each.', {
  required: { first: string, second: string }, annotations: { title: 'Compare', readOnlyHint: true, openWorldHint: false },
}, async ({ first, second }) => {
  const all = await measurements();
  const [a, b] = [first, second].map((label) => {
    const found = all.findLast((m) => m.label === label);
    if (!found) throw new Error(`no measurement "${label}"; there are: ${[...new Set(all.map((m) => m.label).filter(Boolean))].join(', ') || 'none'}`);
    return found;
  });
  // Welch's test, roughly: two standard errors
  const error = Math.sqrt(a.deviation ** 2 / a.runs + b.deviation ** 2 / b.runs);
  const clear = Math.abs(a.mean - b.mean) > 2 * error ? 'a clear difference' : 'within the noise';
  const word = b.mean < a.mean ? 'faster' : 'slower';
  return `${first}: ${describe(a)}\n${second}: ${describe(b)}\n${second} is ${(Math.max(a.mean, b.mean) / Math.max(Math.min(a.mean, b.mean), 1e-6)).toFixed(2)} times ${word}, ${clear}.`;
});

server.tool('list_measurements', 'Lists the latest measurements that were kept.', { annotations: { title: 'Measurements', readOnlyHint: true, openWorldHint: false } }, async () =>
  (await measurements()).slice(-30).map((m) => `${m.at?.slice(0, 16)}  ${m.label ?? '-'}  ${m.program}: ${describe(m)}`).join('\n') || 'Nothing has been measured yet.');

server.ended = () => { if (current) kill(current); };
process.on('SIGTERM', () => { server.ended(); process.exit(0); });
server.run();
