// Logs workouts to the file given with --data: SQLite where this Node brings it, a JSON file otherwise.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Server, string } from './mcp.mjs';

const { values: options } = parseArgs({ options: { data: { type: 'string', default: 'workouts' } }, strict: false });
const base = resolve(options.data);

const migrations = [
  'CREATE TABLE workout (day TEXT NOT NULL, sport TEXT NOT NULL, minutes INTEGER NOT NULL)',
  'ALTER TABLE workout ADD COLUMN note TEXT NOT NULL DEFAULT \'\'',
  'CREATE INDEX workout_day ON workout (day)',
];

async function sqliteStore() {
  const { DatabaseSync } = await import('node:sqlite');
  const db = new DatabaseSync(`${base}.db`);
  db.exec('PRAGMA journal_mode = WAL');
  const { user_version: version } = db.prepare('PRAGMA user_version').get();
  migrations.slice(version).forEach((sql, i) => db.exec(`BEGIN; ${sql}; PRAGMA user_version = ${version + i + 1}; COMMIT`));
  return {
    kind: 'SQLite',
    add: (w) => db.prepare('INSERT INTO workout (day, sport, minutes, note) VALUES (?, ?, ?, ?)').run(w.day, w.sport, w.minutes, w.note),
    all: () => db.prepare('SELECT day, sport, minutes, note FROM workout ORDER BY day').all(),
    close: () => db.close(),
  };
}

function jsonStore() {
  const file = `${base}.json`;
  const all = () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);
  return {
    kind: 'JSON',
    all,
    add(w) {
      writeFileSync(`${file}.new`, JSON.stringify([...all(), w], null, 1));
      renameSync(`${file}.new`, file);
    },
    close() {},
  };
}

let opened;
const store = () => (opened ??= (async () => {
  mkdirSync(dirname(base), { recursive: true });
  try { return await sqliteStore(); } catch { return jsonStore(); }
})());

const server = new Server('workout-log', { version: '3.0.1' });
const day = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'YYYY-MM-DD; today when left out' };

server.tool('log_workout', 'Adds a workout to the log.', {
  required: { sport: string, minutes: { type: 'integer', minimum: 1, maximum: 1440 } },
  optional: { day, note: string },
  annotations: { destructiveHint: false, openWorldHint: false },
}, async ({ sport, minutes, day: when = new Date().toISOString().slice(0, 10), note = '' }) => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(when)) return 'The day must look like 2025-03-31; nothing was logged.';
  if (minutes < 1 || minutes > 1440) return 'A workout takes between one minute and a day; nothing was logged.';
  const { add, kind } = await store();
  add({ day: when, sport, minutes, note });
  return `Logged ${minutes} min of ${sport} on ${when} (${kind}).`;
});

server.tool('workout_totals', 'Sums minutes by sport. Opens the log, which is made on first use.', {
  optional: { since: day },
  annotations: { destructiveHint: false, openWorldHint: false },
}, async ({ since = '' }) => {
  const totals = new Map();
  for (const w of (await store()).all()) if (w.day >= since) totals.set(w.sport, (totals.get(w.sport) ?? 0) + w.minutes);
  return [...totals].sort((a, b) => b[1] - a[1]).map(([sport, minutes]) => `${sport}: ${minutes} min`).join('\n') || 'No workouts yet.';
});

server.ended = async () => (await opened)?.close();
server.run();
