// hours-csv: what did I work on, and how long? A plain CSV that any spreadsheet opens: project,start,end,note
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const file = process.env.HOURS_FILE ?? path.join(homedir(), 'hours.csv');
const lock = `${file}.lock`;
const HEADER = ['project', 'start', 'end', 'note'];

// Two clients may have the file open: whoever makes the lock file writes. A lock older than ten seconds was left by a crash.
async function locked(work) {
  await mkdir(path.dirname(file), { recursive: true });
  for (let attempt = 0; ; attempt++) {
    try {
      const handle = await open(lock, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const age = await stat(lock).then((s) => Date.now() - s.mtimeMs, () => 0);
      if (age > 10_000) await rm(lock, { force: true });
      else if (attempt >= 40) throw new Error(`${lock} is held by another program`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  try { return await work(); } finally { await rm(lock, { force: true }); }
}

function split(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => (m[1] !== undefined ? m[1].replaceAll('""', '"') : m[2]));
}

async function load() {
  let text = '';
  try { text = await readFile(file, 'utf8'); } catch (error) { if (error.code !== 'ENOENT') throw error; }
  return text.split(/\r?\n/).slice(1).filter(Boolean).map((l) => { const [project, start, end, note] = split(l); return { project, start, end, note }; });
}

async function save(entries) {
  const cell = (v = '') => (/[",]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v);
  const text = [HEADER.join(','), ...entries.map((e) => HEADER.map((h) => cell(e[h])).join(','))].join('\n');
  await writeFile(`${file}.new`, `${text}\n`);
  await rename(`${file}.new`, file);
}

const oneLine = (text, most) => {
  const clean = text.replace(/\s+/g, ' ').trim().slice(0, most);
  return /^[=+@-]/.test(clean) ? ` ${clean}` : clean; // no formulas in a spreadsheet
};
const now = () => new Date().toISOString().slice(0, 16);
const minutes = (e) => Math.max(0, Math.round((Date.parse(`${e.end || now()}Z`) - Date.parse(`${e.start}Z`)) / 60000)) || 0;
const hours = (m) => `${Math.floor(m / 60)}:${String(m % 60).padStart(2, '0')}`;
const finish = (entries) => { const running = entries.filter((e) => !e.end); for (const e of running) e.end = now(); return running; };

const server = new Server('hours-csv', { version: '2.0.1', instructions: `Work times are kept in ${file}; times are UTC. While it is written, ${path.basename(lock)} lies beside it.` });

server.tool('start_work', 'Starts the clock for a project. What was running is stopped first.', {
  required: { project: { type: 'string', minLength: 1, maxLength: 60 } }, optional: { note: { type: 'string', maxLength: 300 } },
  annotations: { destructiveHint: false, openWorldHint: false },
}, ({ project, note = '' }) => locked(async () => {
  const name = oneLine(project, 60);
  if (!name) throw new Error('The project has no name.');
  const entries = await load();
  const stopped = finish(entries);
  await save([...entries, { project: name, start: now(), end: '', note: oneLine(note, 300) }]);
  return `${name} is running.${stopped.map((e) => ` Stopped ${e.project} after ${hours(minutes(e))}.`).join('')}`;
}));

server.tool('stop_work', 'Stops the clock.', { annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false } }, () => locked(async () => {
  const entries = await load();
  const stopped = finish(entries);
  if (stopped.length) await save(entries);
  return stopped.map((e) => `${e.project}: ${hours(minutes(e))}`).join('\n') || 'Nothing was running.';
}));

server.tool('report', 'Sums the hours by project for a range of days, with the running one.', {
  optional: { from: { type: 'string', format: 'date' }, to: { type: 'string', format: 'date' } },
  annotations: { readOnlyHint: true, openWorldHint: false },
  outputSchema: { type: 'object', properties: { total: string, projects: { type: 'object', additionalProperties: string } }, required: ['total', 'projects'] },
}, async ({ from = new Date(Date.now() - 6 * 864e5).toISOString().slice(0, 10), to = '9999-12-31' }) => {
  const sums = new Map();
  for (const e of await load()) if (e.start && e.start.slice(0, 10) >= from && e.start.slice(0, 10) <= to) sums.set(e.project, (sums.get(e.project) ?? 0) + minutes(e));
  const sorted = [...sums].sort((a, b) => b[1] - a[1]);
  const result = { total: hours(sorted.reduce((sum, [, m]) => sum + m, 0)), projects: Object.fromEntries(sorted.map(([p, m]) => [p, hours(m)])) };
  return { structuredContent: result, content: [{ type: 'text', text: JSON.stringify(result) }] };
});

server.tool('undo_last', 'Removes the last entry from the file.', { annotations: { destructiveHint: true, openWorldHint: false } }, () => locked(async () => {
  const entries = await load();
  const last = entries.pop();
  if (!last) return 'The file is empty.';
  await save(entries);
  return `Removed: ${last.project}, ${last.start}`;
}));

server.run();
