#!/usr/bin/env node
// water-log: glasses and mugs of the day.
// Files: ~/.local/share/water-log/drinks.jsonl (one line for each drink), goal.json and exports as CSV beside it.
// A lock file keeps two servers from writing at the same time; it is taken away after each change.
import { createInterface } from 'node:readline';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const dir = path.join(process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share'), 'water-log');
const drinks = path.join(dir, 'drinks.jsonl');
const goalFile = path.join(dir, 'goal.json');
const lockFile = path.join(dir, 'lock');
const KINDS = { water: 1, tea: 1, coffee: 0.8, juice: 0.9, milk: 0.9, soup: 0.9 };
fs.mkdirSync(dir, { recursive: true });

async function locked(work) {
  for (let attempt = 0; ; attempt++) {
    try {
      fs.writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      // left behind by a server that crashed
      const age = Date.now() - (fs.statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > 10_000) fs.rmSync(lockFile, { force: true });
      else if (attempt > 50) throw new Error('another water-log is writing; try again');
      else await sleep(40);
    }
  }
  try { return work(); } finally { fs.rmSync(lockFile, { force: true }); }
}

const today = () => dayOf(new Date());
const dayOf = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;

function entries() {
  if (!fs.existsSync(drinks)) return [];
  return fs.readFileSync(drinks, 'utf8').split('\n').flatMap((line) => {
    try { return line ? [JSON.parse(line)] : []; } catch { return []; } // a torn last line
  });
}

function goal() {
  try {
    const { ml } = JSON.parse(fs.readFileSync(goalFile, 'utf8'));
    if (Number.isInteger(ml)) return ml;
  } catch { /* none was set */ }
  return 2000;
}

function replace(file, text) {
  fs.writeFileSync(`${file}.new`, text);
  fs.renameSync(`${file}.new`, file);
}

const counted = ({ ml, kind }) => Math.round(ml * (KINDS[kind] ?? 1));
const total = (list) => list.reduce((sum, entry) => sum + counted(entry), 0);

function number(value, name, low, high, fallback) {
  if (value === undefined && fallback !== undefined) return fallback;
  if (!Number.isInteger(value) || value < low || value > high) throw new Error(`${name} is a whole number from ${low} to ${high}`);
  return value;
}

const ml = { type: 'integer', minimum: 10, maximum: 3000, description: 'Millilitres', examples: [250] };
const add = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const read = { readOnlyHint: true, openWorldHint: false };
const tools = [
  {
    name: 'log_drink', annotations: add,
    description: 'Writes down a drink with the time of now, as a line in ~/.local/share/water-log/drinks.jsonl.',
    inputSchema: { type: 'object', properties: { ml, kind: { type: 'string', enum: Object.keys(KINDS), default: 'water' } }, required: ['ml'] },
    async run({ ml, kind = 'water' }) {
      number(ml, 'ml', 10, 3000);
      if (!Object.hasOwn(KINDS, kind)) throw new Error(`kind is one of ${Object.keys(KINDS).join(', ')}`);
      const now = new Date();
      await locked(() => fs.appendFileSync(drinks, `${JSON.stringify({ day: dayOf(now), time: now.toTimeString().slice(0, 5), ml, kind })}\n`));
      const sum = total(entries().filter((e) => e.day === today()));
      return `Logged. Today: ${sum} of ${goal()} ml.`;
    },
  },
  {
    name: 'day_summary', annotations: read,
    description: 'Lists the drinks of a day, today if none is given, and how far they are from the goal.',
    inputSchema: { type: 'object', properties: { day: { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' } } },
    run({ day = today() }) {
      if (typeof day !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error('day is written as 2024-05-31');
      const list = entries().filter((e) => e.day === day);
      return JSON.stringify({ day, ml: total(list), goal: goal(), drinks: list.map((e) => `${e.time} ${e.ml} ml ${e.kind}`) });
    },
  },
  {
    name: 'last_days', annotations: read,
    description: 'Draws a bar for each of the last days.',
    inputSchema: { type: 'object', properties: { days: { type: 'integer', minimum: 1, maximum: 60, default: 7 } } },
    run({ days }) {
      const sums = new Map();
      for (const entry of entries()) sums.set(entry.day, (sums.get(entry.day) ?? 0) + counted(entry));
      const aim = goal();
      const now = new Date();
      return Array.from({ length: number(days, 'days', 1, 60, 7) }, (_, i) => dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - i))).reverse()
        .map((day) => `${day} ${'#'.repeat(Math.min(40, Math.round((20 * (sums.get(day) ?? 0)) / aim))).padEnd(20, '.')} ${sums.get(day) ?? 0}`).join('\n');
    },
  },
  {
    name: 'set_goal', annotations: { ...add, idempotentHint: true },
    description: 'Sets the daily goal, which is 2000 ml at first, in ~/.local/share/water-log/goal.json.',
    inputSchema: { type: 'object', properties: { ml: { ...ml, minimum: 200, maximum: 8000, examples: [2200] } }, required: ['ml'] },
    async run({ ml }) {
      number(ml, 'ml', 200, 8000);
      await locked(() => replace(goalFile, JSON.stringify({ ml })));
      return `The goal is ${ml} ml.`;
    },
  },
  {
    name: 'undo_last', annotations: { ...add, destructiveHint: true },
    description: 'Removes the drink that was written down last from drinks.jsonl.',
    inputSchema: { type: 'object', properties: {} },
    async run() {
      return locked(() => {
        const list = entries();
        const last = list.pop();
        if (!last) throw new Error('nothing is written down');
        replace(drinks, list.map((e) => `${JSON.stringify(e)}\n`).join(''));
        return `Removed ${last.ml} ml ${last.kind} of ${last.day} ${last.time}.`;
      });
    },
  },
  {
    name: 'export_csv', annotations: { ...add, idempotentHint: true },
    description: 'Writes all drinks to ~/.local/share/water-log/drinks.csv, in place of an earlier export, and returns its path.',
    inputSchema: { type: 'object', properties: {} },
    async run() {
      const file = path.join(dir, 'drinks.csv');
      await locked(() => replace(file, ['day,time,ml,kind', ...entries().map((e) => `${e.day},${e.time},${e.ml},${e.kind}`), ''].join('\n')));
      return file;
    },
  },
];

async function reply(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'water-log', version: '2.0.0' }, instructions: 'Keeps its files in ~/.local/share/water-log.' };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: tools.map(({ run, ...declared }) => declared) };
  const tool = method === 'tools/call' && tools.find((t) => t.name === params.name);
  if (!tool) throw Object.assign(new Error(`unknown: ${method === 'tools/call' ? params.name : method}`), { code: method === 'tools/call' ? -32602 : -32601 });
  try {
    return { content: [{ type: 'text', text: await tool.run(params.arguments ?? {}) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let message;
  try { message = JSON.parse(line); } catch { continue; }
  if (message?.id === undefined || typeof message.method !== 'string') continue;
  const answer = await reply(message.method, message.params ?? {}).then((result) => ({ result }), ({ code, message: text }) => ({ error: { code: code ?? -32603, message: text } }));
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer })}\n`);
}
