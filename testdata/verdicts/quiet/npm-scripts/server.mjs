// npm-scripts: the scripts of package.json as a tool. Only what package.json names is run.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const project = process.cwd();
const kept = 400_000; // bytes of output
const shown = 8_000;
const manager = { 'pnpm-lock.yaml': 'pnpm', 'yarn.lock': 'yarn' };

const server = new Server('npm-scripts', {
  version: '1.5.0',
  instructions: 'Runs scripts of package.json in the working directory. A script can do anything that the user can: read it with list_scripts first. npm writes its own logs to ~/.npm/_logs.',
});

const running = new Map();
const last = new Map();

async function scripts() {
  let text;
  try { text = await readFile(join(project, 'package.json'), 'utf8'); } catch (error) {
    throw new Error(error.code === 'ENOENT' ? `there is no package.json in ${project}` : error.message);
  }
  const found = JSON.parse(text).scripts ?? {};
  return new Map(Object.entries(found).filter(([, command]) => typeof command === 'string'));
}

function stop(child) {
  try { process.kill(-child.pid, 'SIGTERM'); } catch { return; } // gone already
  setTimeout(() => { try { process.kill(-child.pid, 'SIGKILL'); } catch { /* gone */ } }, 2000).unref();
}

function run(name, args, seconds) {
  return new Promise((resolve, reject) => {
    const started = Date.now();
    const child = spawn('npm', ['run', name, '--', ...args], {
      cwd: project, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, npm_config_update_notifier: 'false', npm_config_fund: 'false', NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    running.set(name, child);
    let output = '';
    let late = false;
    const take = (data) => { output = (output + data).slice(-kept); };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const timer = setTimeout(() => { late = true; stop(child); }, seconds * 1000);
    child.on('error', (error) => { clearTimeout(timer); running.delete(name); reject(error.code === 'ENOENT' ? new Error('npm is not installed') : error); });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(name);
      const end = late ? `stopped after ${seconds} s` : signal ? `ended by ${signal}` : `exit status ${code}`;
      last.set(name, { output, end, took: ((Date.now() - started) / 1000).toFixed(1) });
      resolve(last.get(name));
    });
  });
}

const escapes = /\x1b\[[0-9;?]*[A-Za-z]/g;

server.tool('list_scripts', 'Lists the scripts of package.json with their commands, and which of them run at the moment.', {
  annotations: { title: 'List scripts', readOnlyHint: true, openWorldHint: false },
}, async () => {
  const lines = [...await scripts()].map(([name, command]) => `${name}${running.has(name) ? ' (running)' : ''}: ${command}`);
  const others = (await Promise.all(Object.entries(manager).map(([lock, tool]) => readFile(join(project, lock)).then(() => tool, () => null)))).filter(Boolean);
  if (others.length) lines.push(`The project has a lock file of ${others.join(' and ')}; scripts are run with npm all the same.`);
  return lines.join('\n') || 'package.json has no scripts.';
});

server.tool('run_script', 'Runs a script of package.json with `npm run`, with its pre and post scripts, and returns the end of its output. The script may change files, start programs and use the network.', {
  required: { script: { type: 'string', description: 'A name that list_scripts shows' } },
  optional: { args: { type: 'array', items: string, description: 'Further arguments for the script' }, seconds: { type: 'integer', minimum: 1, maximum: 900, default: 120 } },
  annotations: { title: 'Run a script', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
}, async ({ script, args = [], seconds = 120 }) => {
  const known = await scripts();
  if (!known.has(script)) throw new Error(`no script ${script}; there are: ${[...known.keys()].join(', ') || 'none'}`);
  if (!args.every((a) => typeof a === 'string')) throw new Error('args are texts');
  if (running.has(script)) throw new Error(`${script} is running already`);
  const { output, end, took } = await run(script, args, Math.min(Math.max(seconds, 1), 900));
  const text = output.replace(escapes, '');
  return `${script}: ${end}, ${took} s\n${text.length > shown ? `… (${text.length - shown} characters before; see last_output)\n` : ''}${text.slice(-shown)}`;
});

server.tool('last_output', 'Shows the output of the last run of a script in this session, or the lines of it that contain a text.', {
  required: { script: string }, optional: { containing: string }, annotations: { title: 'Last output', readOnlyHint: true, openWorldHint: false },
}, ({ script, containing }) => {
  const entry = last.get(script);
  if (!entry) return `${script} has not been run in this session.`;
  const lines = entry.output.replace(escapes, '').split('\n').filter((l) => !containing || l.toLowerCase().includes(containing.toLowerCase()));
  return lines.slice(-500).join('\n') || 'No output.';
});

server.tool('stop_script', 'Stops a script that run_script started and that still runs.', {
  required: { script: string }, annotations: { title: 'Stop a script', destructiveHint: true, openWorldHint: false },
}, ({ script }) => {
  const child = running.get(script);
  if (!child) return `${script} does not run.`;
  stop(child);
  return `${script} was told to stop.`;
});

const end = () => { for (const child of running.values()) stop(child); };
server.ended = end;
process.on('SIGTERM', () => { end(); process.exit(0); });

server.run();
