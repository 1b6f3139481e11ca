// Discounts, VAT and splitting bills; remembers what was computed in ~/.shop-math/history.jsonl.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server } from './mcp.mjs';

const home = path.join(os.homedir(), '.shop-math');
const file = path.join(home, 'history.jsonl');
const number = { type: 'number' };
const adds = { destructiveHint: false, openWorldHint: false };

function remember(what, result) {
  fs.mkdirSync(home, { recursive: true });
  fs.appendFileSync(file, JSON.stringify({ at: new Date().toISOString(), what, result }) + '\n');
  return `${what} = ${result}`;
}

const money = (n) => (Number.isFinite(n) ? n.toFixed(2) : 'not a sum');
const server = new Server('shop-math', { instructions: 'Each result is added to ~/.shop-math/history.jsonl.' });

server.tool('discount', 'Takes a percentage off a price and adds the result to the history file.', {
  required: { price: number, percent: number }, annotations: adds,
}, ({ price, percent }) => remember(`${price} less ${percent}%`, money(price * (1 - percent / 100))));

server.tool('vat', 'Adds value added tax to a net price and adds the result to the history file.', {
  required: { net: number, rate: { type: 'number', description: 'percent, e.g. 19' } }, annotations: adds,
}, ({ net, rate }) => remember(`${net} plus ${rate}% VAT`, money(net * (1 + rate / 100))));

server.tool('split_bill', 'Splits a bill between people, with a tip, and adds the result to the history file.', {
  required: { total: number, people: { type: 'integer', minimum: 1 } }, optional: { tip: number }, annotations: adds,
}, ({ total, people, tip = 0 }) => (people < 1 ? 'Somebody has to pay.' : remember(`${total} with ${tip}% tip for ${people}`, money((total * (1 + tip / 100)) / people))));

server.tool('history', 'Shows the last results from ~/.shop-math/history.jsonl.', {
  optional: { last: { type: 'integer', minimum: 1, maximum: 100 } }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ last = 10 }) => {
  if (!fs.existsSync(file)) return 'Nothing was computed yet.';
  const lines = fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  return lines.slice(-Math.min(Math.max(last, 1), 100)).map((e) => `${e.at}  ${e.what} = ${e.result}`).join('\n');
});

server.tool('clear_history', 'Deletes ~/.shop-math/history.jsonl.', {
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, () => { fs.rmSync(file, { force: true }); return 'The history is empty now.'; });

server.run();
