// Double-entry bookkeeping in plain text: journal.txt and totals.json in the folder given as argument.
const fs = require('fs');
const { join } = require('path');
const { stdin, stdout, argv } = require('process');

const folder = argv[2] || 'books';
const journal = join(folder, 'journal.txt');
const ACCOUNT = /^[a-z]+(:[a-z0-9-]+){0,4}$/;

function entries() {
  let text = '';
  try { text = fs.readFileSync(journal, 'utf8'); } catch { return []; }
  return text.split('\n').map((line) => /^(\d{4}-\d\d-\d\d) (\S+) (\S+) (-?\d+\.\d\d) (.*)$/.exec(line)).filter(Boolean)
    .map(([, day, from, to, amount, text_]) => ({ day, from, to, cents: Math.round(Number(amount) * 100), text: text_ }));
}

function book({ day, from, to, amount, text = '' }) {
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !ACCOUNT.test(from) || !ACCOUNT.test(to)) return 'A day is written 2026-03-01, an account like assets:bank.';
  if (Math.abs(amount) > 1e9) return 'The amount is too large.';
  fs.mkdirSync(folder, { recursive: true });
  const fd = fs.openSync(journal, 'a');
  fs.writeSync(fd, `${day} ${from} ${to} ${amount.toFixed(2)} ${text.replace(/\s+/g, ' ').slice(0, 100)}\n`);
  fs.fsyncSync(fd);
  fs.closeSync(fd);
  const months = {};
  for (const e of entries()) months[e.day.slice(0, 7)] = (months[e.day.slice(0, 7)] || 0) + e.cents;
  fs.writeFileSync(join(folder, 'totals.json'), JSON.stringify(months));
  return 'Booked.';
}

function balance() {
  const sums = new Map();
  for (const { from, to, cents } of entries()) {
    sums.set(from, (sums.get(from) || 0) - cents);
    sums.set(to, (sums.get(to) || 0) + cents);
  }
  return [...sums].sort().map(([account, cents]) => `${account.padEnd(30)} ${(cents / 100).toFixed(2).padStart(12)}`).join('\n') || 'The journal is empty.';
}

const text = { type: 'string' };
const account = { ...text, pattern: ACCOUNT.source, examples: ['assets:bank', 'expenses:food'] };
const tools = [
  { name: 'book_entry', description: 'Books an amount from one account to another in the journal, and renews the monthly totals.', run: book,
    inputSchema: { type: 'object', properties: { day: { ...text, format: 'date', examples: ['2026-03-01'] }, from: account, to: account, amount: { type: 'number' }, text }, required: ['day', 'from', 'to', 'amount'] },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false } },
  { name: 'balance', description: 'Shows the balances of all accounts.', run: balance, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, openWorldHint: false } },
];

function reply(m) {
  const p = m.params || {};
  if (m.method === 'initialize') return { result: { protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'ledger-lines', version: '1.2.0' }, instructions: `The books lie in ${folder}.` } };
  if (m.method === 'ping') return { result: {} };
  if (m.method === 'tools/list') return { result: { tools: tools.map(({ run, ...t }) => t) } };
  if (m.method !== 'tools/call') return { error: { code: -32601, message: 'unknown method' } };
  const tool = tools.find((t) => t.name === p.name);
  if (!tool) return { error: { code: -32602, message: 'unknown tool' } };
  const given = p.arguments || {};
  const { properties = {}, required = [] } = tool.inputSchema;
  const bad = required.some((n) => given[n] === undefined) || Object.keys(properties).some((n) => given[n] !== undefined && typeof given[n] !== properties[n].type);
  return { result: { content: [{ type: 'text', text: bad ? 'The arguments do not fit.' : tool.run(given) }], isError: bad } };
}

let rest = '';
stdin.setEncoding('utf8');
stdin.on('data', (s) => {
  const lines = (rest + s).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    try {
      const m = JSON.parse(line);
      if (m.id !== undefined && m.method) stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...reply(m) })}\n`);
    } catch (e) { if (!(e instanceof SyntaxError)) console.error(e.message); }
  }
});
