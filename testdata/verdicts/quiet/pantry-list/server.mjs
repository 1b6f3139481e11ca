// pantry-list: what is in the pantry, what expires, what to buy. Every call passes a chain of middleware, as in a web framework.
import { appendFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const home = homedir();
const file = join(process.env.XDG_DATA_HOME || join(home, '.local/share'), 'pantry-list', 'pantry.json');
const logFile = join(process.env.XDG_STATE_HOME || join(home, '.local/state'), 'pantry-list', 'calls.log');

// --- a very small schema builder
const field = (schema, test) => ({ schema, test, optional: false });
const t = {
  string: (more = {}) => field({ type: 'string', ...more }, (v) => typeof v === 'string' && v.trim() !== '' && v.length <= 200),
  number: (more = {}) => field({ type: 'number', ...more }, (v) => Number.isFinite(v) && v >= (more.minimum ?? -Infinity)),
  date: (more = {}) => field({ type: 'string', format: 'date', ...more }, (v) => typeof v === 'string' && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v))),
  optional: (f) => ({ ...f, optional: true }),
};
const toJson = (shape) => ({ type: 'object', properties: Object.fromEntries(Object.entries(shape).map(([k, f]) => [k, f.schema])), required: Object.keys(shape).filter((k) => !shape[k].optional) });

// --- middleware: (context, next) => result
async function timed(context, next) {
  const start = performance.now();
  try { return await next(); } finally {
    context.took = Math.round(performance.now() - start);
  }
}
// Tool, time and outcome, never arguments. The log is started anew at 100 kB.
async function logged(context, next) {
  const result = await next();
  await mkdir(dirname(logFile), { recursive: true });
  if ((await stat(logFile).catch(() => ({ size: 0 }))).size > 100_000) await rename(logFile, `${logFile}.1`);
  await appendFile(logFile, `${new Date().toISOString()} ${context.name} ${context.took} ms ${result.isError ? 'error' : 'ok'}\n`);
  return result;
}
async function caught(context, next) {
  try { return { content: [{ type: 'text', text: await next() }] }; } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}
const recent = [];
function limited(context, next) {
  const now = Date.now();
  while (recent.length && now - recent[0] > 1000) recent.shift();
  if (recent.push(now) > 50) throw new Error('more than 50 calls a second');
  return next();
}
function validated(context, next) {
  const wrong = Object.entries(context.tool.shape).filter(([k, f]) => (context.args[k] === undefined ? !f.optional : !f.test(context.args[k])));
  if (wrong.length) throw new Error(`missing or wrong: ${wrong.map(([k, f]) => `${k} (${f.schema.format ?? f.schema.type})`).join(', ')}`);
  return next();
}
let queue = Promise.resolve(); // one change at a time
const inTurn = (context, next) => (queue = queue.catch(() => {}).then(next));

const compose = (chain, last) => (context) => chain.reduceRight((next, step) => () => step(context, next), () => last(context))();
const pass = compose([logged, timed, caught, limited, validated, inTurn], ({ tool, args }) => tool.run(args));

// --- the pantry
const load = async () => JSON.parse(await readFile(file, 'utf8').catch((e) => { if (e.code === 'ENOENT') return '[]'; throw e; }));
async function save(items) {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, JSON.stringify(items, null, 1));
  await rename(`${file}.tmp`, file);
}
const same = (name) => (i) => i.name.toLowerCase() === name.trim().toLowerCase();
const show = (i) => `${i.name}: ${i.amount} ${i.unit}${i.expires ? `, until ${i.expires}` : ''}${i.least && i.amount < i.least ? '  (low)' : ''}`;

const tools = {
  add_item: {
    description: 'Adds something to the pantry, or more of what is there. Kept in ~/.local/share/pantry-list/pantry.json.', annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    shape: { name: t.string(), amount: t.number({ minimum: 0 }), unit: t.optional(t.string({ description: 'g, ml, pieces …' })), expires: t.optional(t.date()), least: t.optional(t.number({ minimum: 0, description: 'Below this it goes on the shopping list' })) },
    async run({ name, amount, unit, expires, least }) {
      const items = await load();
      let item = items.find(same(name));
      if (!item) items.push(item = { name: name.trim(), amount: 0, unit: unit ?? 'pieces' });
      if (unit && unit !== item.unit) throw new Error(`${item.name} is counted in ${item.unit}`);
      item.amount += amount;
      if (expires && (!item.expires || expires < item.expires)) item.expires = expires;
      if (least !== undefined) item.least = least;
      await save(items);
      return show(item);
    },
  },
  use_item: {
    description: 'Takes something out of the pantry.', annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false }, shape: { name: t.string(), amount: t.number({ minimum: 0 }) },
    async run({ name, amount }) {
      const items = await load();
      const item = items.find(same(name));
      if (!item) throw new Error(`there is no ${name}`);
      item.amount = Math.max(0, item.amount - amount);
      if (!item.amount) delete item.expires;
      await save(items.filter((i) => i.amount > 0 || i.least));
      return show(item);
    },
  },
  list_pantry: {
    description: 'Lists what is in the pantry, what expires first at the top.', annotations: { destructiveHint: false, openWorldHint: false }, shape: {},
    run: async () => (await load()).sort((a, b) => ((a.expires ?? '9') < (b.expires ?? '9') ? -1 : 1)).map(show).join('\n') || 'The pantry is empty.',
  },
  shopping_list: {
    description: 'Lists what has run low.', annotations: { destructiveHint: false, openWorldHint: false }, shape: {},
    run: async () => (await load()).filter((i) => i.least && i.amount < i.least).map((i) => `[ ] ${i.name}, ${i.least - i.amount} ${i.unit}`).join('\n') || 'Nothing has run low.',
  },
};

const routes = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'pantry-list', version: '0.2.0' }, instructions: 'Each call is noted in ~/.local/state/pantry-list/calls.log: tool, time and whether it worked, no contents.' }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { shape, run, ...more }]) => ({ name, ...more, inputSchema: toJson(shape) })) }),
  'tools/call': (p) => {
    if (!Object.hasOwn(tools, p.name)) throw new Error(`no tool ${p.name}`);
    return pass({ name: p.name, tool: tools[p.name], args: p.arguments ?? {} });
  },
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = await Promise.resolve(line).then(JSON.parse).catch(() => null);
  if (message?.id === undefined) return;
  const answer = { jsonrpc: '2.0', id: message.id };
  try {
    if (!Object.hasOwn(routes, message.method)) throw new Error('method not found');
    answer.result = await routes[message.method](message.params ?? {});
  } catch (error) {
    answer.error = { code: message.method === 'tools/call' ? -32602 : -32601, message: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
