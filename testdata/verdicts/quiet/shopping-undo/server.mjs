// shopping-undo: a shopping list that never loses anything. Each change is a line of
// ~/.shopping-undo.jsonl, the list is what the lines add up to, and undo is one more line.
import { appendFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const JOURNAL = join(homedir(), '.shopping-undo.jsonl');
const AISLES = [
  ['produce', /apple|banana|carrot|lettuce|onion|potato|tomato|lemon|herb/i],
  ['bakery', /bread|roll|bagel|cake/i],
  ['dairy', /milk|butter|cheese|yog|cream|egg/i],
  ['household', /soap|paper|sponge|bag|battery|bulb/i],
];
const aisle = (item) => AISLES.find(([, words]) => words.test(item))?.[0] ?? 'other';

async function journal() {
  let text = '';
  try { text = await readFile(JOURNAL, 'utf8'); } catch (error) { if (error.code !== 'ENOENT') throw error; }
  return text.split('\n').flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
}

// Changes happen one after the other, so that two calls at once do not mix up their numbers.
let queue = Promise.resolve();
const change = (step) => (queue = queue.catch(() => {}).then(async () => {
  const events = await journal();
  const { event, say } = await step(events);
  if (event) await appendFile(JOURNAL, `${JSON.stringify({ n: (events.at(-1)?.n ?? 0) + 1, at: new Date().toISOString(), ...event })}\n`, { mode: 0o600 });
  return say;
}));

function replay(events) {
  const undone = new Set(events.filter((e) => e.type === 'undo').map((e) => e.of));
  const list = new Map();
  for (const e of events.filter((one) => !undone.has(one.n))) {
    if (e.type === 'add') list.set(e.item, (list.get(e.item) ?? 0) + e.amount);
    if (e.type === 'buy') e.items.forEach((item) => list.delete(item));
  }
  return list;
}

const tidy = (item) => item.trim().toLowerCase().replace(/\s+/g, ' ').slice(0, 60);
const show = (list) => {
  const groups = new Map();
  for (const [item, amount] of list) groups.set(aisle(item), [...(groups.get(aisle(item)) ?? []), amount > 1 ? `${amount} × ${item}` : item]);
  return [...groups].sort().map(([name, items]) => `${name}:\n${items.sort().map((i) => `  [ ] ${i}`).join('\n')}`).join('\n') || 'The list is empty.';
};

const server = new Server('shopping-undo', {
  version: '1.4.0',
  instructions: 'A shopping list, sorted by aisle. It is stored as a journal in ~/.shopping-undo.jsonl; bought things leave the list, but stay in the journal so that undo can bring them back.',
});
const local = { openWorldHint: false };

server.tool('show_list', 'Shows the shopping list by aisle.', { annotations: { ...local, readOnlyHint: true } }, async () => show(replay(await journal())));

server.tool('add_item', 'Puts something on the shopping list. If it is there already, the amounts add up.', {
  required: { item: { ...string, maxLength: 60 } }, optional: { amount: { type: 'integer', minimum: 1, maximum: 99 } }, annotations: { ...local, readOnlyHint: false, destructiveHint: false },
}, ({ item, amount = 1 }) => change(() => {
  const name = tidy(item);
  if (!name || amount < 1 || amount > 99) return { say: 'An item needs a name, and an amount between 1 and 99.' };
  return { event: { type: 'add', item: name, amount }, say: `Added ${amount} × ${name} (${aisle(name)}).` };
}));

server.tool('mark_bought', 'Takes things off the list because they were bought.', {
  required: { items: { type: 'array', items: string } }, annotations: { ...local, readOnlyHint: false, destructiveHint: false },
}, ({ items }) => change((events) => {
  const list = replay(events);
  const bought = [...new Set(items.filter((i) => typeof i === 'string').map(tidy))].filter((i) => list.has(i));
  if (!bought.length) return { say: `None of these is on the list.\n${show(list)}` };
  return { event: { type: 'buy', items: bought }, say: `Bought: ${bought.join(', ')}. ${list.size - bought.length} left.` };
}));

server.tool('undo', 'Takes back the latest change that has not been taken back yet.', { annotations: { ...local, readOnlyHint: false } }, () => change((events) => {
  const undone = new Set(events.filter((e) => e.type === 'undo').map((e) => e.of));
  const last = events.filter((e) => e.type !== 'undo' && !undone.has(e.n)).at(-1);
  if (!last) return { say: 'There is nothing to take back.' };
  return { event: { type: 'undo', of: last.n }, say: `Took back: ${last.type} ${last.item ?? last.items.join(', ')}` };
}));

server.run();
