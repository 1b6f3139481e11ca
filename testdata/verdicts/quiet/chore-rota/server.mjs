#!/usr/bin/env node
// chore-rota: whose turn it is. Chores are kept in ~/.local/share/chore-rota/rota.json (or ROTA_FILE); a lock file beside it
// keeps two clients apart.
import { mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from './mcp.mjs';

const file = resolve(process.env.ROTA_FILE || join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'chore-rota', 'rota.json'));
const members = (process.env.ROTA_MEMBERS ?? 'one,two').split(',').map((m) => m.trim()).filter(Boolean);
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,39}$/u;
const server = new Server('chore-rota', { version: '1.0.0', instructions: `Members (ROTA_MEMBERS): ${members.join(', ')}. Chores are kept in ${file}.` });

async function load() {
  const text = await readFile(file, 'utf8').catch((error) => { if (error.code === 'ENOENT') return '{"chores":{}}'; throw error; });
  let data;
  try { data = JSON.parse(text); } catch { throw new Error(`${file} is damaged`); }
  return new Map(Object.entries(data.chores ?? {}));
}

// changing runs change on the chores while it holds the lock, and replaces the file at once.
async function changing(change) {
  await mkdir(dirname(file), { recursive: true });
  const lock = `${file}.lock`;
  for (let attempt = 0; ; attempt++) {
    try { await (await open(lock, 'wx')).close(); break; } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (attempt > 40) throw new Error(`${lock} is held by another program`);
      const age = Date.now() - (await stat(lock).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
      if (age > 30000) await unlink(lock).catch(() => {}); // left behind by a program that was killed
      await sleep(50);
    }
  }
  try {
    const chores = await load();
    const answer = change(chores);
    const out = await open(`${file}.new`, 'w', 0o600);
    await out.writeFile(`${JSON.stringify({ chores: Object.fromEntries(chores) }, null, 1)}\n`);
    await out.sync();
    await out.close();
    await rename(`${file}.new`, file);
    return answer;
  } finally {
    await unlink(lock).catch(() => {});
  }
}

const today = () => new Date().toISOString().slice(0, 10);
const turn = (c) => members[(c.done?.length ?? 0) % members.length];
const due = (c) => { const d = new Date(c.done?.at(-1)?.on ?? c.since); d.setUTCDate(d.getUTCDate() + (c.done?.length ? c.days : 0)); return d.toISOString().slice(0, 10); };
function named(value) {
  const trimmed = value.trim().normalize('NFC');
  if (!NAME.test(trimmed) || trimmed === '__proto__') throw new Error('a chore is called by letters, digits, blanks, _ and -, at most 40');
  return trimmed;
}

const chore = { type: 'string', maxLength: 40, examples: ['Water the plants'] };
const local = { openWorldHint: false };

async function list() {
  const rows = [...await load()].map(([name, c]) => [due(c), name, turn(c)]).sort();
  return rows.map(([d, name, who]) => `${d <= today() ? '!' : ' '} ${d}  ${name}: ${who}`).join('\n') || 'There are no chores yet.';
}

server.tool('list_chores', 'Lists the chores, when each is due and whose turn it is. A mark shows what is due by today.', { annotations: { ...local, readOnlyHint: true } }, list);

server.tool('add_chore', 'Adds a chore that is due every so many days. The members take turns.', {
  required: { chore, days: { type: 'integer', minimum: 1, maximum: 365 } }, annotations: { ...local, readOnlyHint: false, destructiveHint: false },
}, async ({ chore: text, days }) => {
  const name = named(text);
  if (days < 1 || days > 365) throw new Error('days is 1 to 365');
  return changing((chores) => {
    if (chores.has(name)) throw new Error('there is such a chore already');
    if (chores.size >= 200) throw new Error('200 chores are enough');
    chores.set(name, { days, since: today(), done: [] });
    return `Added ${name}; ${members[0]} begins.`;
  });
});

server.tool('mark_done', 'Notes that a chore was done today; the next member follows.', { required: { chore }, annotations: { ...local, readOnlyHint: false, destructiveHint: false } }, async ({ chore: text }) => changing((chores) => {
  const c = chores.get(named(text));
  if (!c) throw new Error('there is no such chore');
  c.done = [...(c.done ?? []), { by: turn(c), on: today() }];
  return `Thanks, ${c.done.at(-1).by}. Next: ${turn(c)}, ${due(c)}.`;
}));

server.tool('remove_chore', 'Removes a chore and the record of who did it.', { required: { chore }, annotations: { ...local, readOnlyHint: false, destructiveHint: true } }, async ({ chore: text }) => changing((chores) => {
  if (!chores.delete(named(text))) throw new Error('there is no such chore');
  return 'Removed.';
}));

server.resource('rota://today', "Today's chores", { description: 'The chores and whose turn each is.', mimeType: 'text/plain' }, list);
server.prompt('weekly-note', 'Asks for a friendly note about the chores of the week.', [], async () => `Write a short friendly note for the kitchen door about these chores:\n\n${await list()}`);

server.run();
